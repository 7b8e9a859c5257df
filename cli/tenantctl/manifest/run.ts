// Runs the plan of a project: one kind of records after the other, and several steps of one kind at the same time.
// Every step can be repeated: after an interruption the next run reads the project again and continues.
import type { DiskResized, Instance, Nic } from "../../../src/contract/instance.ts";
import type { FloatingIp, Vpc } from "../../../src/contract/network.ts";
import type { Query } from "../../internal/exchange.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import { inParallel } from "../../internal/in-parallel.ts";
import { INSTANCE } from "../instance/instance.ts";
import { operate } from "../instance/operation.ts";
import { protectedFailure } from "../../internal/protection.ts";
import { FIRST_NIC } from "../nic/nic.ts";
import type { TenantIo } from "../open-io.ts";
import { projectScope } from "../scope.ts";
import { KEYS_PATH } from "../ssh-key/ssh-key.ts";
import { type Entry, entryOf } from "../../internal/manifest/kind.ts";
import { idOf, labelsPatch, type Plan, type Step } from "../../internal/manifest/plan.ts";
import { forRecord, isInterrupt } from "../../internal/manifest/progress.ts";
import { KINDS, type ListName } from "./kind.ts";
import { type Project, REQUESTS_AT_A_TIME } from "./project.ts";

/** The server's name of the first route table of a VPC. */
export const MAIN_TABLE = "main";
const DEFAULT_FAMILY = "v4";
/** Values that a PATCH sends for fields that the manifest sets to null. For fields not listed here, it sends null. */
const UNSET: Readonly<Record<string, unknown>> = { description: "" };

type Ids = {
  /**
   * Throws if the record does not exist. The plan has checked references, so this is a bug or a concurrent deletion.
   */
  of(list: ListName | "images", key: string): string;
  set(list: string, key: string, id: string): void;
};

type Run = { readonly io: TenantIo; readonly ids: Ids; report(step: Step): void };

export async function runPlan(io: TenantIo, plan: Plan, project: Project, report: (step: Step) => void): Promise<void> {
  const run = { io, ids: idsOf(project), report };
  const changes = plan.steps.filter((step) => step.kind !== "delete");
  for (const { list } of KINDS) {
    const steps = changes.filter(({ entry }) => entry.list === list);
    await inParallel(REQUESTS_AT_A_TIME, steps, (step) => runStep(run, step));
  }
  // Floating IPs are created before instances. So they are attached here, when the instances exist.
  const moved = changes.filter(({ entry, ...step }) =>
    entry.list === "floating_ips" && "attached_to" in entry.values &&
    (step.kind === "create" || step.diffs.some(({ field }) => field === "attached_to"))
  );
  await inParallel(REQUESTS_AT_A_TIME, moved, ({ entry }) => forRecord(entry, () => attach(run, entry)));
  for (const { list } of KINDS.toReversed()) {
    const steps = plan.steps.filter((step) => step.kind === "delete" && step.existing.list === list);
    await inParallel(REQUESTS_AT_A_TIME, steps, (step) => runStep(run, step));
  }
}

async function runStep(run: Run, step: Step): Promise<void> {
  await forRecord(step.kind === "delete" ? step.existing : step.entry, () => changeRecord(run, step));
  run.report(step);
}

async function changeRecord(run: Run, step: Step): Promise<void> {
  switch (step.kind) {
    case "create":
      await create(run, step.entry);
      break;
    case "replace":
      await replace(run, step);
      break;
    case "change":
      await change(run, step);
      break;
    case "delete":
      await removeRecord(run, step.existing);
  }
}

/**
 * Deletes the record and creates it with the new values. If the creation fails, creates the old record again and throws
 * the error. After an interrupt, throws the error without creating the old record again.
 */
async function replace(run: Run, { entry, existing }: Step & { kind: "replace" }): Promise<void> {
  await removeRecord(run, existing);
  try {
    // Fields that the manifest leaves out stay as they are.
    await create(run, entryOf(entry.kind, { ...existing.values, ...entry.values }));
  } catch (error) {
    if (isInterrupt(error)) throw error;
    await create(run, existing).catch((lost) => {
      throw new Failure(`${textOf(error)}; the old ${entry.kind.singular} is deleted: ${textOf(lost)}`, EXIT.failure);
    });
    throw error;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function create({ io, ids }: Run, entry: Entry): Promise<void> {
  const { list, key, kind: { path } } = entry;
  const query = await queryOf(io, entry, ids);
  const body = bodyOf(entry, ids);
  if (list === "instances") {
    const made = await operate<Instance>(io, { method: "POST", path, query, body }, undefined);
    if (made.ended) ids.set(list, key, made.answer.id);
    return;
  }
  const made = await io.send<{ id: string }>({ method: "POST", path, query, body });
  ids.set(list, key, made.id);
  // The answer to the creation of a VPC is a Vpc.
  if (list === "vpcs") ids.set("route_tables", `${key}/${MAIN_TABLE}`, (made as Vpc).main_route_table_id);
  if (list === "subnets" && typeof entry.values.route_table === "string") await setRouteTable({ io, ids }, entry);
}

/** Returns the selector of the record's parent; no selector for an SSH key. */
async function queryOf(io: TenantIo, { list, key, kind }: Entry, ids: Ids): Promise<Query> {
  const parent_key = key.slice(0, key.lastIndexOf("/"));
  switch (kind.key.at(-2)) {
    case "vpc":
      return { vpc: ids.of("vpcs", parent_key) };
    case "route_table":
      return { route_table: ids.of("route_tables", parent_key) };
    default:
      return list === "ssh_keys" ? {} : await projectScope(io);
  }
}

/** Fields whose value is a name, or contains names. Requests have ids instead: in the body, the query or the path. */
const NAMING = [
  "vpc",
  "route_table",
  "attached_to",
  "image",
  "primary_subnet",
  "ssh_keys",
  "extra_nics",
  "placement_group",
  "target",
];

/** Returns the body that creates a record. Unset fields are omitted. */
function bodyOf({ list, values }: Entry, ids: Ids): Record<string, unknown> {
  const given = Object.fromEntries(
    Object.entries(values).filter(([field, value]) => value !== null && !NAMING.includes(field)),
  );
  switch (list) {
    case "routes":
      return { ...given, target: targetBody(values, ids) };
    case "floating_ips":
      return { family: DEFAULT_FAMILY, ...given };
    case "instances":
      return { ...given, ...instanceReferences(values, ids) };
    default:
      return given;
  }
}

function instanceReferences(values: Entry["values"], ids: Ids) {
  const { vpc, image, primary_subnet, ssh_keys, extra_nics, placement_group } = values;
  const subnet = (name: unknown) => ids.of("subnets", `${vpc}/${name}`);
  // parseManifest has checked that these are lists of names and of objects.
  const keys = (ssh_keys ?? []) as readonly string[];
  const nics = (extra_nics ?? []) as readonly { subnet: string; name: string }[];
  return {
    image_id: ids.of("images", String(image)),
    primary_subnet_id: subnet(primary_subnet),
    ssh_key_ids: keys.map((key) => ids.of("ssh_keys", key)),
    extra_nics: nics.map((nic) => ({ subnet_id: subnet(nic.subnet), name: nic.name })),
    ...typeof placement_group === "string" && { placement_group_id: ids.of("placement_groups", placement_group) },
  };
}

function targetBody({ vpc, target }: Entry["values"], ids: Ids): Record<string, unknown> {
  // parseManifest has checked that the target is an object.
  const { nat_gateway, ...rest } = target as Record<string, unknown>;
  if (nat_gateway !== undefined) return { ...rest, nat_gateway_id: ids.of("nat_gateways", `${vpc}/${nat_gateway}`) };
  return rest;
}

async function change({ io, ids }: Run, { entry, existing, diffs }: Step & { kind: "change" }): Promise<void> {
  const changed = new Set(diffs.map(({ field }) => field));
  const patched = [...changed].filter((field) => entry.kind.fields[field]?.change === "patch");
  if (patched.length > 0) {
    const body = Object.fromEntries(patched.map((field) => [field, patchOf(field, entry, existing)]));
    await io.send({ method: "PATCH", path: `${pathOf(entry)}/${existing.id}`, body });
  }
  if (changed.has("route_table")) await setRouteTable({ io, ids }, entry);
  if (changed.has("disk_bytes")) await enlarge(io, existing.id, Number(entry.values.disk_bytes));
}

/** Returns the value of a field in the body of a PATCH. */
function patchOf(field: string, entry: Entry, existing: Entry): unknown {
  return field === "labels" ? labelsPatch(entry, existing) : entry.values[field] ?? UNSET[field] ?? null;
}

/** Returns the path below which a record is changed or deleted. For SSH keys this is not the path that lists them. */
function pathOf({ list, kind }: Entry): string {
  return list === "ssh_keys" ? KEYS_PATH : kind.path;
}

async function setRouteTable({ io, ids }: Pick<Run, "io" | "ids">, { key, values }: Entry): Promise<void> {
  const route_table_id = ids.of("route_tables", `${values.vpc}/${values.route_table}`);
  await io.send({ method: "PUT", path: `/v1/subnets/${ids.of("subnets", key)}/route-table`, body: { route_table_id } });
}

async function enlarge(io: TenantIo, instance: string, size_bytes: number): Promise<void> {
  const disks = await io.all<{ id: string; kind: string }>("/v1/disks", { instance });
  const boot = disks.find(({ kind }) => kind === "boot");
  if (boot !== undefined) await io.post<DiskResized>(`/v1/disks/${boot.id}/resize`, { size_bytes });
}

async function attach({ io, ids }: Run, { key, values }: Entry): Promise<void> {
  const id = ids.of("floating_ips", key);
  const { tenant_id, project_id } = await io.get<FloatingIp>(`/v1/floating-ips/${id}`);
  const path = `/v1/tenants/${tenant_id}/projects/${project_id}/floating-ips/${id}`;
  if (values.attached_to === null) return void await io.post(`${path}/detach`);
  // parseManifest has checked that `attached_to` is an object.
  const { instance, nic = FIRST_NIC } = values.attached_to as { instance: string; nic?: string };
  const nics = await io.all<Nic>("/v1/nics", { instance: ids.of("instances", instance) });
  const nic_id = nics.find(({ name }) => name === nic)?.id;
  if (nic_id === undefined) throw new Error(`instance ${instance} has no NIC ${nic}`);
  await io.post(`${path}/attach`, { nic_id });
}

async function removeRecord({ io }: Run, record: Entry & { readonly id: string }): Promise<void> {
  const { list, id, values } = record;
  if (list === "floating_ips" && values.attached_to !== null) {
    const { tenant_id, project_id } = await io.get<FloatingIp>(`/v1/floating-ips/${id}`);
    await io.post(`/v1/tenants/${tenant_id}/projects/${project_id}/floating-ips/${id}/detach`);
  }
  if (list === "instances") return await removeInstance(io, id);
  await io.send({ method: "DELETE", path: `${pathOf(record)}/${id}` });
}

/**
 * Deletes an instance. Only a stopped or failed instance can be deleted, so a running instance is stopped first.
 * Refuses a protected instance before it stops the instance.
 */
async function removeInstance(io: TenantIo, id: string): Promise<void> {
  const path = `${INSTANCE.path}/${id}`;
  const { name, lifecycle, deletion_protection } = await io.get<Instance>(path);
  if (deletion_protection) throw protectedFailure(name);
  if (lifecycle.state === "running") await operate(io, { method: "POST", path: `${path}/stop` }, undefined);
  await operate(io, { method: "DELETE", path, query: { force: "false" } }, undefined);
}

function idsOf({ existing, images }: Project): Ids {
  const ids = new Map([
    ...existing.map((each) => [idOf(each), each.id] as const),
    ...[...images].map(([name, id]) => [`images ${name}`, id] as const),
  ]);
  return {
    of: (list, key) => {
      const id = ids.get(`${list} ${key}`);
      if (id === undefined) throw new Error(`${list} ${key} does not exist`);
      return id;
    },
    set: (list, key, id) => void ids.set(`${list} ${key}`, id),
  };
}
