// Builds the blueprint of a job: everything that the node of the job needs. The blueprint may contain secrets of the
// instance, so only the node that claimed the job may read it.
import { findImage } from "../../actors/image/reads.ts";
import { findDisksOf, findInstance, findNicsOf, findSealedUserData } from "../../actors/instance/reads.ts";
import { findSshKey } from "../../actors/ssh-key/reads.ts";
import { findSubnet } from "../../actors/subnet/reads.ts";
import type { Instance, Nic } from "../contract/instance.ts";
import type { Blueprint, Job } from "../contract/job.ts";
import type { RouteDeps } from "../routes/deps.ts";

type Deps = Pick<RouteDeps, "findOne" | "mint">;
type Part = Omit<Blueprint, "job_id" | "kind" | "instance">;

export async function blueprintOf(deps: Deps, job: Job): Promise<Blueprint> {
  const { instance_id } = job.kind;
  if (typeof instance_id !== "string") return { job_id: job.id, kind: job.kind, instance: null, ...NOTHING };
  const [instance, own] = await Promise.all([
    deps.findOne(findInstance, instance_id),
    CREATES.has(job.kind.kind) ? ownParts(deps, instance_id) : null,
  ]);
  const part = instance !== null && own !== null
    ? await wholePart(deps, instance, own)
    : { ...NOTHING, image: await copiedImage(deps, job), ...await nicsPart(deps, job, instance) };
  const { migration_id } = job.kind;
  const ticket = typeof migration_id === "string" && MOVES.has(job.kind.kind)
    ? { migration_ticket: deps.mint.migrationTicket(migration_id) }
    : {};
  return { job_id: job.id, kind: job.kind, instance, ...part, ...ticket };
}

/** The kinds of jobs that create a machine on their node. */
const CREATES: ReadonlySet<string> = new Set(["provision", "migrate_receive"]);
/** The kinds of jobs that boot an existing machine with the values in the instance's record. */
const BOOTS: ReadonlySet<string> = new Set(["start", "rebuild"]);
/** The kinds of jobs in which two nodes connect to each other. */
const MOVES: ReadonlySet<string> = new Set(["migrate_receive", "migrate_send"]);

const NOTHING: Part = {
  image: null,
  nics: [],
  subnets: [],
  disks: [],
  ssh_public_keys: [],
  user_data: null,
  managed_identity: null,
  imds_bindings: [],
  provision_metadata: [],
};

/**
 * Returns the image from which a job makes a data disk or a new boot disk. Null for other jobs, for an empty disk, and
 * for an image that does not exist.
 */
async function copiedImage({ findOne }: Deps, { kind: { kind, image_id } }: Job) {
  if (kind !== "create_disk" && kind !== "rebuild" || typeof image_id !== "string") return null;
  return await findOne(findImage, image_id);
}

/**
 * Returns the NICs and their subnets for a job that boots an existing machine, and no fields for other jobs. NICs may
 * have been added or removed since the machine stopped.
 */
async function nicsPart({ findOne }: Deps, { kind: { kind } }: Job, instance: Instance | null) {
  if (instance === null || !BOOTS.has(kind)) return {};
  const nics = await findOne(findNicsOf, instance.id) ?? [];
  return { nics, subnets: await subnetsOf(findOne, nics) };
}

async function subnetsOf(findOne: Deps["findOne"], nics: readonly Nic[]) {
  const ids = [...new Set(nics.map(({ subnet_id }) => subnet_id))];
  const subnets = await Promise.all(ids.map((id) => findOne(findSubnet, id)));
  return subnets.filter((subnet) => subnet !== null);
}

type OwnParts = Awaited<ReturnType<typeof ownParts>>;

/** Reads the records that can be found by the instance's id. */
async function ownParts({ findOne }: Deps, instance_id: string) {
  const [nics, disks, sealed_user_data] = await Promise.all([
    findOne(findNicsOf, instance_id),
    findOne(findDisksOf, instance_id),
    findOne(findSealedUserData, instance_id),
  ]);
  return { nics: nics ?? [], disks: disks ?? [], sealed_user_data };
}

async function wholePart({ findOne, mint }: Deps, instance: Instance, own: OwnParts): Promise<Part> {
  const { nics, disks, sealed_user_data } = own;
  const [image, keys, subnets] = await Promise.all([
    findOne(findImage, instance.image_id),
    Promise.all(instance.ssh_key_ids.map((id) => findOne(findSshKey, id))),
    subnetsOf(findOne, nics),
  ]);
  const identity = { instance_id: instance.id, tenant_id: instance.tenant_id, project_id: instance.project_id };
  return {
    image,
    nics,
    subnets,
    disks,
    // Leaves out keys that were deleted after the instance was created.
    ssh_public_keys: keys.flatMap((key) => key === null ? [] : [key.public_key]),
    user_data: sealed_user_data === null ? null : mint.openUserData(instance.id, sealed_user_data),
    managed_identity: { ...identity, identity_hmac: mint.identityHmac(identity) },
    imds_bindings: [],
    provision_metadata: [{
      key: "instance/root_pw",
      value: mint.instanceRootPassword(instance.id),
      guest_visible: false,
      guest_writable: false,
      updated_by: "system",
      updated_at: instance.created_at,
    }],
  };
}
