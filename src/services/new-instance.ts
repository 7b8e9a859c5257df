// Builds the message that creates an instance. Checks that the caller may use the image, networks and SSH keys that the
// body names, and picks candidate nodes.
import { findImageToUse } from "../../actors/image/reads.ts";
import type { InstanceMessage, NicPlan } from "../../actors/instance/messages.ts";
import { findGroup, snapshotOf } from "./placement-snapshot.ts";
import { findSshKeysToUse } from "../../actors/ssh-key/reads.ts";
import { findSubnet } from "../../actors/subnet/reads.ts";
import type { RecordScope, ResourceScope } from "../auth/resource-scope.ts";
import type { Principal } from "../auth/principal.ts";
import { sees } from "../auth/visibility.ts";
import { INSTANCE_BRANDS, type InstanceBrand } from "../contract/enums.ts";
import { badRequest, type Fault, NOT_FOUND } from "../contract/fault.ts";
import type { InstanceBody, InstancePatch } from "../contract/instance.ts";
import {
  BHYVE_BOOT_DISK_BYTES_MIN,
  DISK_BYTES_MAX,
  PLACEMENT_CANDIDATES_MAX,
  USER_DATA_BYTES_MAX,
} from "../contract/limits.ts";
import { wantedGroup } from "../lib/placement/group.ts";
import { drawn, pick } from "../lib/placement/pick.ts";
import { sizesOf } from "../lib/placement/request.ts";
import type { RouteDeps } from "../routes/deps.ts";

type Create = Extract<InstanceMessage, { type: "create" }>;

export type Wanted = {
  readonly body: InstanceBody;
  readonly place: ResourceScope & { readonly tenant_id: string; readonly project_id: string };
  readonly principal: Principal;
  readonly id: string;
  readonly operation_id: string;
  /** The number of earlier tries. */
  readonly tries: number;
};

const DISK_SIZE = badRequest("disk_bytes must be greater than zero and at most 16 TiB");

/** Returns the 400 for the first value that is not allowed, or null. */
export function brokenRule({ cpu, memory_bytes, disk_bytes, user_data }: InstanceBody): Fault | null {
  const size = brokenSize({ cpu, memory_bytes }, 0);
  if (size !== null) return size;
  if (typeof disk_bytes === "number" && (disk_bytes === 0 || disk_bytes > DISK_BYTES_MAX)) return DISK_SIZE;
  const bytes = user_data ? new TextEncoder().encode(user_data).length : 0;
  return bytes > USER_DATA_BYTES_MAX ? badRequest(`user_data must be at most ${USER_DATA_BYTES_MAX} bytes`) : null;
}

/** Returns the 400 for a size that is not allowed, or null. A missing value is allowed. */
export function brokenSize(
  { cpu, memory_bytes }: Pick<InstancePatch, "cpu" | "memory_bytes">,
  memory_bytes_min: number,
) {
  if (cpu === 0) return badRequest("cpu must be greater than zero");
  if (memory_bytes === 0) return badRequest("memory_bytes must be greater than zero");
  const is_small = typeof memory_bytes === "number" && memory_bytes < memory_bytes_min;
  return is_small ? badRequest(`memory_bytes must be at least ${memory_bytes_min}, not ${memory_bytes}`) : null;
}

type Deps = Pick<RouteDeps, "byKey" | "findOne" | "kysely" | "mint" | "nodesToPlace" | "settings">;

/**
 * Returns the message that creates the instance, or a Fault. The Fault is a 404 if an object that the body names is
 * missing or may not be used.
 */
export async function newInstance(deps: Deps, wanted: Wanted): Promise<Create | Fault> {
  const { body, place, id, operation_id, tries } = wanted;
  const ssh_key_ids = [...new Set(body.ssh_key_ids)];
  const group_id = body.placement_group_id ?? null;
  const [
    image,
    nics,
    keysMissing,
    group,
    nodes,
    { profile, load_stale_s, quota_defaults, limit_ms, memory_bytes_min },
  ] = await Promise.all([
    imageToUse(deps, { ...wanted, image_id: body.image_id }),
    nicsOf(deps, wanted),
    missingKey(deps, wanted, ssh_key_ids),
    group_id === null ? null : findGroup(deps.kysely, { id: group_id, project_id: place.project_id }),
    deps.nodesToPlace(),
    deps.settings.instanceCreation(),
  ]);
  const small = brokenSize(body, memory_bytes_min);
  if (small !== null) return small;
  if (image === null || nics === null || keysMissing || group === undefined) return NOT_FOUND;
  const brand = brandOf(image.compatibility?.brand);
  const boot_bytes = bootBytes(body.disk_bytes ?? null, image.content_bytes ?? image.size_bytes, brand);
  if (boot_bytes > DISK_BYTES_MAX) return DISK_SIZE;
  const { cpu, memory_bytes } = body;
  const { tenant_id, project_id, silo_id } = place;
  const { candidates: best, report } = pick(
    {
      ...sizesOf({ cpu, memory_bytes, disk_bytes: boot_bytes }),
      role: "tenant",
      brand,
      min_platform: image.compatibility?.min_platform ?? null,
      tenant_id,
      silo_id,
      instance_id: id,
      avoid_cn: [],
      group: wantedGroup(group, { instance_id: id }),
    },
    snapshotOf(nodes, load_stale_s),
    profile,
  );
  return {
    type: "create",
    id,
    silo_id,
    tenant_id,
    project_id,
    name: body.name,
    description: body.description,
    labels: body.labels,
    deletion_protection: body.deletion_protection,
    placement_group_id: group_id,
    brand,
    cpu,
    memory_bytes,
    image_id: image.id,
    primary_subnet_id: body.primary_subnet_id,
    ssh_key_ids,
    sealed_user_data: typeof body.user_data === "string" ? deps.mint.sealUserData(id, body.user_data) : null,
    nics,
    boot_disk: { id: deps.mint.idFrom(id, "boot-disk"), size_bytes: boot_bytes },
    // Each retry picks its candidates from a larger part of the ranked nodes.
    candidates: tries === 0 ? best : drawn(report, PLACEMENT_CANDIDATES_MAX ** (tries + 1)),
    operation_id,
    limit_ms,
    quota_defaults,
  };
}

/**
 * Returns the image if the caller may see it and the tenant may use it, otherwise null. Root may see every image, but
 * the tenant must still be allowed to use it.
 */
export async function imageToUse(
  deps: Pick<Deps, "findOne">,
  { image_id, place, principal }: Pick<Wanted, "place" | "principal"> & { readonly image_id: string },
) {
  const image = await deps.findOne(findImageToUse, image_id);
  if (image === null || !isVisible(principal, image)) return null;
  const { scope_kind, silo_id, tenant_id } = image;
  if (scope_kind === "public") return image;
  return (scope_kind === "silo" ? silo_id === place.silo_id : tenant_id === place.tenant_id) ? image : null;
}

/**
 * Returns whether one of the keys is missing or may not be used. The caller must be able to see the key. A key that
 * belongs to a silo must belong to the silo of the instance. Public keys and operators' own keys belong to no silo.
 */
async function missingKey(deps: Deps, { place, principal }: Wanted, ids: readonly string[]): Promise<boolean> {
  const keys = await findSshKeysToUse(deps.kysely, ids);
  const usable = keys.filter((key) =>
    isVisible(principal, key) &&
    (key.scope_kind === "public" || key.lives_in === null || key.lives_in === place.silo_id)
  );
  return usable.length < ids.length;
}

function isVisible(principal: Principal, place: RecordScope): boolean {
  const caller = principal.kind === "user" ? principal : null;
  return caller?.is_root === true || sees(caller, place);
}

/**
 * Returns the planned NICs: the primary NIC first, then the other NICs in the order of the body. Null if a subnet is
 * not in the project.
 */
async function nicsOf(deps: Deps, { body, place, id }: Wanted): Promise<NicPlan[] | null> {
  const asked = [
    { name: "primary", subnet_id: body.primary_subnet_id, mac: body.mac ?? null },
    ...body.extra_nics.map((nic) => ({ ...nic, mac: null })),
  ];
  const plans = await Promise.all(asked.map(async ({ name, subnet_id, mac }, ordinal): Promise<NicPlan | null> => {
    const subnet = await deps.findOne(findSubnet, subnet_id);
    if (subnet === null || subnet.project_id !== place.project_id) return null;
    const token = (family: string) => deps.mint.idFrom(id, `nic:${ordinal}:${family}`);
    return {
      id: deps.mint.idFrom(id, `nic:${ordinal}`),
      mac,
      name,
      subnet_id: subnet.id,
      vpc_id: subnet.vpc_id,
      ipv4_token: subnet.ipv4_block === null ? null : token("v4"),
      ipv6_token: subnet.ipv6_block === null ? null : token("v6"),
    };
  }));
  return plans.every((plan) => plan !== null) ? plans : null;
}

/** Returns the brand of instances of an image, from the image's compatibility. */
export function brandOf(text: string | undefined): InstanceBrand {
  return INSTANCE_BRANDS.find((brand) => brand === text) ?? "not-applicable";
}

/**
 * Returns the size of the boot disk in bytes: at least the image's size. The default is the image's size, for bhyve at
 * least 20 GiB.
 */
function bootBytes(wanted: number | null, image_bytes: number, brand: InstanceBrand): number {
  if (wanted !== null) return Math.max(wanted, image_bytes);
  return brand === "bhyve" ? Math.max(image_bytes, BHYVE_BOOT_DISK_BYTES_MIN) : image_bytes;
}
