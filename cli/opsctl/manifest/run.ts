// Runs the plan of a site: one kind of records after the other, and several steps of one kind at the same time. Every
// step can be repeated: after an interruption the next run reads the site again and continues.
import type { BootPolicy } from "../../../src/contract/boot.ts";
import type { Silo } from "../../../src/contract/tenancy.ts";
import { inParallel } from "../../internal/in-parallel.ts";
import type { Io } from "../../internal/io.ts";
import type { Entry } from "../../internal/manifest/kind.ts";
import { type Existing, idOf, labelsPatch, type Plan, type Step } from "../../internal/manifest/plan.ts";
import { forRecord } from "../../internal/manifest/progress.ts";
import { putPolicy, readPolicy } from "../cn/boot/policy/policy.ts";
import { settingPath } from "../config/setting.ts";
import { DEFAULT_TENANT, type ListName, SITE } from "./kinds.ts";
import { REQUESTS_AT_A_TIME } from "./site.ts";

/** Ids of the records by list and key. */
type Ids = Map<string, string>;
type Run = { readonly io: Io; readonly ids: Ids };

export async function runSitePlan(
  io: Io,
  { steps }: Plan,
  existing: readonly Existing[],
  report: (step: Step) => void,
): Promise<void> {
  const run = { io, ids: new Map(existing.map((each) => [idOf(each), each.id])) };
  const runAll = async (chosen: readonly Step[]) =>
    await inParallel(REQUESTS_AT_A_TIME, chosen, async (step) => {
      await runStep(run, step);
      report(step);
    });
  for (const { list } of SITE.kinds) {
    await runAll(steps.filter((step) => step.kind !== "delete" && step.entry.list === list));
  }
  for (const { list } of SITE.kinds.toReversed()) {
    await runAll(steps.filter((step) => step.kind === "delete" && step.existing.list === list));
  }
}

async function runStep(run: Run, step: Step): Promise<void> {
  await forRecord(step.kind === "delete" ? step.existing : step.entry, () => changeRecord(run, step));
}

async function changeRecord(run: Run, step: Step): Promise<void> {
  if (step.kind === "delete") await run.io.send({ method: "DELETE", path: pathOf(run, step.existing) });
  else if (step.kind === "create") await create(run, step.entry);
  else await change(run, step.entry, step.existing);
}

async function create(run: Run, entry: Entry): Promise<void> {
  const { io, ids } = run;
  // The tenant exists if it is the default tenant of a silo that this run has created.
  if (entry.list === "tenants" && ids.has(idOf(entry))) return await change(run, entry, entry);
  if (entry.list === "quotas") return await change(run, entry, entry);
  const { id, ...rest } = await io.post<{ id: string }>(collectionOf(run, entry), bodyOf(run, entry));
  ids.set(idOf(entry), id);
  if (entry.list === "silos") {
    // The answer to the creation of a silo is a Silo.
    const { default_tenant_id } = rest as Omit<Silo, "id">;
    ids.set(`tenants ${entry.key}/${DEFAULT_TENANT}`, default_tenant_id);
  }
}

/** Changes a record to the values of the manifest. Fields that the manifest omits do not change. */
async function change(run: Run, entry: Entry, before: Entry): Promise<void> {
  const { io } = run;
  const path = pathOf(run, entry);
  const { description, labels } = entry.values;
  switch (entry.list as ListName) {
    case "silos":
    case "tenants":
      if (description === undefined) return;
      return void await io.send({ method: "PATCH", path, body: { description: description ?? "" } });
    case "projects": {
      const body = {
        ...description !== undefined && { description: description ?? "" },
        ...labels !== undefined && { labels: labelsPatch(entry, before) },
      };
      return void await io.send({ method: "PATCH", path, body });
    }
    case "quotas":
      return void await io.send({ method: "PUT", path, body: bodyOf(run, entry) });
    case "settings":
      // The value of a setting may be null, which `bodyOf` would omit.
      return void await io.send({ method: "PUT", path, body: { value: entry.values.value } });
    case "nic_tags":
      throw new Error("a NIC tag does not change");
    case "external_subnets": {
      const { owner_silos } = bodyOf(run, entry);
      const body = { ...description !== undefined && { description: description ?? "" }, owner_silos };
      return void await io.send({ method: "PATCH", path, body });
    }
    case "network_pools": {
      const whole = { ...entry, values: { ...before.values, ...entry.values } };
      return void await io.send({ method: "PUT", path, body: bodyOf(run, whole) });
    }
    case "boot_policy": {
      // parseManifest has checked the types of the fields, and the server checks the rest.
      const given = entry.values as Partial<BootPolicy>;
      const { policy, etag } = await readPolicy(io);
      return void await putPolicy(io, { ...policy, ...given }, etag);
    }
  }
}

/** Returns the path to which the request that creates a record is sent. */
function collectionOf({ ids }: Run, { list, kind, values }: Entry): string {
  const { silo, tenant } = values;
  if (list === "tenants") return `${kind.path}/${found(ids, `silos ${silo}`)}/tenants`;
  if (list === "projects") return `${kind.path}/${found(ids, `tenants ${silo}/${tenant}`)}/projects`;
  return kind.path;
}

function pathOf(run: Run, entry: Entry): string {
  const { list, kind, key, values: { silo, tenant, project } } = entry;
  switch (list as ListName) {
    case "boot_policy":
      return kind.path;
    case "settings":
      return settingPath(key);
    case "quotas": {
      const of_tenant = `${kind.path}/${found(run.ids, `tenants ${silo}/${tenant}`)}`;
      if (project === undefined || project === null) return `${of_tenant}/quota`;
      return `${of_tenant}/projects/${found(run.ids, `projects ${key}`)}/quota`;
    }
    default:
      return `${collectionOf(run, entry)}/${found(run.ids, idOf(entry))}`;
  }
}

/** The fields that are not in a request body: the names of the parent records, and the key of a setting. */
const PARENTS: ReadonlySet<string> = new Set(["silo", "tenant", "project", "key"]);

/**
 * Returns the body of the request that creates or changes a record. Unset fields are omitted, and names of records
 * become ids.
 */
function bodyOf({ ids }: Run, { values }: Entry): Record<string, unknown> {
  const { networks, owner_silos, ...rest } = values;
  const given = Object.fromEntries(
    Object.entries(rest).filter(([field, value]) => value !== undefined && value !== null && !PARENTS.has(field)),
  );
  // parseManifest has checked that these are lists of names.
  const idsOf = (list: ListName, names: unknown) =>
    (names as readonly string[]).map((name) => found(ids, `${list} ${name}`));
  return {
    ...given,
    ...(networks !== undefined && { networks: idsOf("external_subnets", networks) }),
    ...(owner_silos !== undefined && { owner_silos: idsOf("silos", owner_silos ?? []) }),
  };
}

/** Returns the id of a record. The plan has checked references, so a missing id is a bug or a concurrent deletion. */
function found(ids: Ids, key: string): string {
  const id = ids.get(key);
  if (id === undefined) throw new Error(`${key} does not exist`);
  return id;
}
