// Defines how commands list, find and print the instances of all tenants. A name is unique only in a project, so one
// name may match several instances.
import { INSTANCE_STATES } from "../../../src/contract/enums.ts";
import type { Instance, SystemInstance } from "../../../src/contract/instance.ts";
import { oneOf } from "../../framework.ts";
import { byteSizeText } from "../../internal/byte-size.ts";
import type { Io } from "../../internal/io.ts";
import { isUuid, named, pickRecord, type RecordKind, titleOf } from "../../internal/record-name.ts";
import {
  AGE_COLUMN,
  blockText,
  BYTES_COLUMN,
  type Column,
  ID_COLUMN,
  STATE_COLUMN,
  WIDE_COLUMN,
} from "../../internal/table.ts";
import { resolveNode } from "../node-name.ts";
import { IMAGE, resolveImage } from "../image/record.ts";
import type { Listing, Showing } from "../record/kind.ts";
import { resolveTenant } from "../tenant/tenant.ts";

export const INSTANCES_PATH = "/v1/instances";
export const SYSTEM_INSTANCES_PATH = "/v1/system/instances";
export const INSTANCE_ARGUMENT = [
  "<instance>",
  "UUID, unique UUID prefix, address, or a name that only one instance has",
] as const;

const INSTANCE_NAME: RecordKind<SystemInstance> = {
  ...named<SystemInstance>("instance", "opsctl instance list"),
  isCalled: (instance, name) => instance.name === name || instance.addresses.includes(name.toLowerCase()),
};

export const INSTANCE_COLUMNS: readonly Column<SystemInstance>[] = [
  ["NAME", (instance) => instance.name],
  ["ID", (instance) => instance.id, ID_COLUMN],
  ["STATE", (instance) => instance.lifecycle.state, STATE_COLUMN],
  ["CPU", (instance) => instance.cpu],
  ["MEMORY", (instance) => instance.memory_bytes, BYTES_COLUMN],
  ["AGE", (instance) => instance.created_at, AGE_COLUMN],
  ["HOST", (instance) => instance.host_name ?? instance.host_cn_uuid],
  ["TENANT", (instance) => `${instance.silo_name}/${instance.tenant_name}`],
  ["PROJECT", (instance) => instance.project_name],
  ["ADDRESSES", (instance) => instance.addresses.join(",")],
  ["REASON", (instance) => instance.lifecycle.reason, WIDE_COLUMN],
  ["CREATED_AT", (instance) => instance.created_at, WIDE_COLUMN],
];

/** Finds an instance of any tenant. Reads the list of instances unless the name is a complete UUID. */
export async function findInstance(io: Io, name: string): Promise<Instance> {
  if (isUuid(name)) return await io.get<Instance>(`${INSTANCES_PATH}/${name.toLowerCase()}`);
  return pickRecord(await matching(io, name), name, INSTANCE_NAME);
}

/** An instance. If it comes from the list of instances, it has its addresses and the names of its node and owners. */
export type NamedInstance = Instance & Partial<SystemInstance>;

/**
 * Finds an instance of any tenant, with the fields of the list. For a UUID, reads the instance. Then searches the
 * instances of its node for the fields of the list, unless the output is for programs. For any other name, searches the
 * instances of all nodes.
 */
export async function findNamedInstance(io: Io, name: string): Promise<NamedInstance> {
  if (!isUuid(name)) return pickRecord(await matching(io, name), name, INSTANCE_NAME);
  const instance = await findInstance(io, name);
  if (io.json) return instance;
  const listedOn = async (cn: string | null) =>
    (await matching(io, instance.id, cn)).find(({ id }) => id === instance.id);
  const { host_cn_uuid } = instance;
  // An instance that moved after the first read is not on that node. So the second search covers all nodes.
  const listed = await listedOn(host_cn_uuid) ?? (host_cn_uuid === null ? undefined : await listedOn(null));
  // All fields about the node come from the later read, so that its UUID and its name belong to the same node.
  return { ...instance, ...listed };
}

function matching(io: Io, name: string, cn: string | null = null): Promise<SystemInstance[]> {
  return io.all<SystemInstance>(SYSTEM_INSTANCES_PATH, { q: name, cn: cn ?? undefined });
}

/** Returns the UUID of an instance of any tenant. A complete UUID needs no request. */
export async function resolveInstance(io: Io, name: string): Promise<string> {
  return isUuid(name) ? name.toLowerCase() : (await findInstance(io, name)).id;
}

/** Returns the path of an instance of any tenant. */
export async function instancePath(io: Io, name: string): Promise<string> {
  return `${INSTANCES_PATH}/${await resolveInstance(io, name)}`;
}

export function instanceText(instance: NamedInstance): string {
  const { lifecycle: { state, reason }, host_cn_uuid, host_name, tenant_id, tenant_name, project_id, project_name } =
    instance;
  return blockText([
    ["id", instance.id],
    ["name", instance.name],
    ["description", instance.description],
    ["state", reason === undefined ? state : `${state}: ${reason}`],
    ["cpu", instance.cpu],
    ["memory", byteSizeText(instance.memory_bytes)],
    ["addresses", instance.addresses?.join(", ")],
    ["image", instance.image_id],
    ["host", host_cn_uuid && host_name ? titleOf({ name: host_name, id: host_cn_uuid }) : host_cn_uuid],
    ["host_live", instance.host_live],
    ["found_on_host", instance.found_on_host],
    ["tenant", tenant_name ? titleOf({ name: `${instance.silo_name}/${tenant_name}`, id: tenant_id }) : tenant_id],
    ["project", project_name ? titleOf({ name: project_name, id: project_id }) : project_id],
    ["created_at", instance.created_at],
  ]);
}

type Options = {
  readonly state?: string;
  readonly tenant?: string;
  readonly host?: string;
  readonly image?: string;
};

export const INSTANCE: Listing<SystemInstance> & Showing<NamedInstance> = {
  one: "instance of any tenant",
  many: "instances",
  argument: INSTANCE_ARGUMENT,
  sample: "web1",
  summaries: { list: "List the instances of all tenants" },
  list_sample: "web --state running --host cn-17",
  selectors: (made) =>
    made.argument("[text]", "only instances with this text in the name, the UUID or an address")
      .addOption(oneOf("--state <state>", "only instances in this state", INSTANCE_STATES))
      .option("--tenant <tenant>", "only instances of this tenant: name, SILO/NAME or UUID")
      .option("--host <node>", "only instances on this node: UUID, unique UUID prefix or hostname")
      .option("--image <image-record>", `only instances of this image: ${IMAGE.argument[1]}`),
  columns: INSTANCE_COLUMNS,
  all: async (io, _, { argument, options }) => {
    const { state, tenant, host, image } = options as Options;
    return await io.all<SystemInstance>(SYSTEM_INSTANCES_PATH, {
      q: argument,
      state,
      image: image === undefined ? undefined : await resolveImage(io, image),
      tenant: tenant === undefined ? undefined : await resolveTenant(io, tenant),
      cn: host === undefined ? undefined : await resolveNode(io, host),
    });
  },
  find: (io, name) => findNamedInstance(io, name),
  record: (instance) => instance,
  text: instanceText,
};
