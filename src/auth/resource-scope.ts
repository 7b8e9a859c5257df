// Where in the hierarchy the object of a request stands. The gate asks before it lets anybody in, so that a foreign
// object and an absent one are the same 404, with the same work done. Selectors are looked at before rights, since a
// missing one says nothing about any object. Document 3, Authentication; document 4, 0.4, 2.8 and 2.9.
import type { Context } from "hono";
import { Uuid } from "../contract/common.ts";
import type { ScopeColumns } from "../contract/scope.ts";
import { type Fault, fault } from "../contract/fault.ts";
import type { DbClient } from "../db/pool.ts";
import type { HttpEnv } from "../http/env.ts";

type Ctx = Context<HttpEnv>;

export type ResourceScope = {
  readonly silo_id: string;
  /** Null for a silo itself. */
  readonly tenant_id: string | null;
  /** Null for what belongs to a tenant or silo as a whole. */
  readonly project_id: string | null;
};

/** Where something with a scope of its own stands: beside a level of the hierarchy, with a user, or open to everybody. */
export type RecordScope = ScopeColumns;

/** Nothing of one place is asked for: whoever may act anywhere may go on, and the route shows what is the caller's own. */
export type Anywhere = { readonly anywhere: true };

/** How a route finds the place of its object. */
export type Locate = {
  /** The query keys that must be there, and what is said when one is not. */
  readonly selectors?: readonly string[];
  /** Which of them are wanted, where that depends on the request; and what is said in place of the usual words. */
  readonly wanted?: (c: Ctx) => readonly string[];
  readonly missing?: (c: Ctx) => string;
  /** Null: there is no such object. A Fault: what names it has not the form of a UUID. */
  readonly find: (c: Ctx, db: DbClient) => Promise<ResourceScope | RecordScope | Anywhere | null | Fault>;
};

/** Tables whose rows name their tenant and project. */
export type PlacedTable =
  | "vpc"
  | "subnet"
  | "nat_gateway"
  | "floating_ip"
  | "route_table"
  | "route"
  | "firewall_rule"
  | "instance"
  | "disk"
  | "nic";

/** The 400 for a selector that is missing or not for tenants, or null. */
export function selectorFault(c: Ctx, locate: Locate): Fault | null {
  const selectors = locate.wanted?.(c) ?? locate.selectors;
  if (selectors === undefined) return null;
  if (c.req.query("silo") !== undefined) {
    const message = "the silo selector is not accepted here; use `?tenant=<uuid>&project=<uuid>`";
    return fault("bad_request", message, { error_code: "ScopeNotAccepted" });
  }
  if (selectors.every((key) => (c.req.query(key) ?? "") !== "")) return null;
  const wanted = selectors.map((key) => `${key}=<uuid>`).join("&");
  const usual = `${c.req.method} ${c.req.path} requires \`?${wanted}\`${selectors.length > 1 ? " selectors" : ""}`;
  const message = locate.missing?.(c) ?? usual;
  return fault("bad_request", message, { error_code: "MissingScope" });
}

/** `?tenant=&project=`: a project of another tenant is as good as absent. */
export const inProject: Locate = {
  selectors: ["tenant", "project"],
  find: (c, db) =>
    withIds(
      c,
      { tenant: "query", project: "query" },
      ([tenant = "", project = ""]) => findProject(db, project, { tenant_id: tenant }),
    ),
};

/** `?vpc=`, and `?project=` where it is sent: it must be the VPC's. */
export const inVpc: Locate = inParent("vpc", "vpc");

/** `?route_table=`; `?project=` is ignored (document 3). */
export const inRouteTable: Locate = inParent("route_table", null);

/** `?instance=`. */
export const inInstance: Locate = {
  ...inParent("instance", null),
  missing: (c) =>
    `${c.req.method} ${c.req.path} requires \`?instance=<uuid>\`; there is no search for disks across a project`,
};

/** Instances by their image or their node are looked for wherever they are; otherwise in one project. */
export const ofInstances: Locate = {
  wanted: (c) => narrow(c, ["image", "cn"]) ? [] : ["tenant", "project"],
  missing: () => "set `image=`, `cn=`, or `tenant=&project=` to scope the list",
  find: async (c, db) => {
    const placed = (c.req.query("tenant") ?? "") !== "" && (c.req.query("project") ?? "") !== "";
    return placed ? await inProject.find(c, db) : ANYWHERE;
  },
};

/** NICs by their address are looked for wherever they are; otherwise in one subnet, one instance or one project. */
export const ofNics: Locate = {
  wanted: (c) => narrow(c, ["ip", "subnet", "instance"]) ? [] : ["tenant", "project"],
  missing: (c) =>
    `${c.req.method} ${c.req.path} requires one of \`?ip=\`, \`?subnet=<uuid>\` and \`?instance=<uuid>\`, or ` +
    "`?tenant=<uuid>&project=<uuid>`",
  find: async (c, db) => {
    if (narrow(c, ["ip"])) return ANYWHERE;
    if (narrow(c, ["subnet"])) return await inParent("subnet", null).find(c, db);
    return await (narrow(c, ["instance"]) ? inInstance : inProject).find(c, db);
  },
};

const ANYWHERE: Anywhere = { anywhere: true };

function narrow(c: Ctx, keys: readonly string[]): boolean {
  return keys.some((key) => (c.req.query(key) ?? "") !== "");
}

function inParent(table: "vpc" | "route_table" | "instance" | "subnet", compared: "vpc" | null): Locate {
  return {
    selectors: [table],
    find: async (c, db) => {
      const names = compared !== null && c.req.query("project") !== undefined ? [table, "project"] : [table];
      return await withIds(c, Object.fromEntries(names.map((name) => [name, "query" as const])), async (ids) => {
        const place = await findRow(db, table, ids[0]!);
        return ids[1] === undefined || place?.project_id === ids[1] ? place : null;
      });
    },
  };
}

/** An object by its id in the path. */
export function atRow(table: PlacedTable, param: string): Locate {
  return { find: (c, db) => withIds(c, { [param]: "path" }, ([id = ""]) => findRow(db, table, id)) };
}

/** An operation stands where the tenant stands that it refers to. One that refers to none is for operators alone. */
export const atOperation: Locate = {
  find: (c, db) => withIds(c, { id: "path" }, ([id = ""]) => findOperationPlace(db, id)),
};

/** An image or an SSH key by its id in the path. */
export function atScoped(table: "image" | "ssh_key", param: string): Locate {
  const user = table === "image" ? "null as user_id" : "user_id";
  const sql = `select scope_kind, silo_id, tenant_id, project_id, ${user} from ${table} where id = $1`;
  return { find: (c, db) => withIds(c, { [param]: "path" }, ([id = ""]) => findPlace<RecordScope>(db, sql, id)) };
}

export const atSilo: Locate = {
  find: (c, db) =>
    withIds(c, { silo_id: "path" }, async ([id = ""]) => {
      return await findPlace(
        db,
        "select id as silo_id, null as tenant_id, null as project_id from silo where id = $1",
        id,
      );
    }),
};

/** A tenant below its silo, as an object of the silo. */
export const atTenantOfSilo: Locate = {
  find: (c, db) =>
    withIds(c, { silo_id: "path", tenant_id: "path" }, async ([silo_id = "", id = ""]) => {
      const place = await findTenant(db, id);
      return place?.silo_id === silo_id ? place : null;
    }),
};

export const atTenant: Locate = {
  find: (c, db) => withIds(c, { tenant_id: "path" }, ([id = ""]) => findTenant(db, id)),
};

export const atProject: Locate = {
  find: (c, db) =>
    withIds(
      c,
      { tenant_id: "path", project_id: "path" },
      ([tenant_id = "", id = ""]) => findProject(db, id, { tenant_id }),
    ),
};

/** Document 3, Floating IP: one whose tenant and project differ from the path is not there. */
export const atFloatingIpOfProject: Locate = {
  find: (c, db) =>
    withIds(c, { tenant_id: "path", project_id: "path", floating_ip_id: "path" }, async (ids) => {
      const [tenant_id, project_id, id = ""] = ids;
      const place = await findRow(db, "floating_ip", id);
      return place?.tenant_id === tenant_id && place?.project_id === project_id ? place : null;
    }),
};

/** Reads ids from the request and goes on with them, or says which is none. */
async function withIds<P>(
  c: Ctx,
  names: Readonly<Record<string, "path" | "query">>,
  find: (ids: readonly string[]) => Promise<P | null>,
): Promise<P | null | Fault> {
  const ids: string[] = [];
  for (const [name, where] of Object.entries(names)) {
    const parsed = Uuid.safeParse(where === "path" ? c.req.param(name) : c.req.query(name));
    if (!parsed.success) return fault("bad_request", `${where}.${name}: must be a UUID`);
    ids.push(parsed.data);
  }
  return await find(ids);
}

async function findRow(db: DbClient, table: PlacedTable, id: string): Promise<ResourceScope | null> {
  const columns = "t.silo_id, x.tenant_id, x.project_id";
  return await findPlace(
    db,
    `select ${columns} from ${table} x join tenant t on t.id = x.tenant_id where x.id = $1`,
    id,
  );
}

async function findOperationPlace(db: DbClient, id: string): Promise<RecordScope | null> {
  return await findPlace<RecordScope>(
    db,
    `select 'tenant' as scope_kind, t.silo_id, t.id as tenant_id, null as project_id, null as user_id
       from saga s left join lateral (
         select r->>'id' as id from jsonb_array_elements(s.refs) r where r->>'scope' = 'tenant' limit 1) ref on true
       left join tenant t on t.id = ref.id::uuid
      where s.id = $1`,
    id,
  );
}

async function findTenant(db: DbClient, id: string): Promise<ResourceScope | null> {
  return await findPlace(db, "select silo_id, id as tenant_id, null as project_id from tenant where id = $1", id);
}

async function findProject(
  db: DbClient,
  id: string,
  of: { readonly tenant_id: string },
): Promise<ResourceScope | null> {
  const place = await findPlace(
    db,
    `select t.silo_id, p.tenant_id, p.id as project_id from project p join tenant t on t.id = p.tenant_id
      where p.id = $1`,
    id,
  );
  return place?.tenant_id === of.tenant_id ? place : null;
}

async function findPlace<P extends object = ResourceScope>(db: DbClient, sql: string, id: string): Promise<P | null> {
  return (await db.query<P>(sql, [id])).rows[0] ?? null;
}
