// Finds the silo, tenant and project of a request's object, before the request is authorized. An object of another
// tenant and a missing object get the same 404 after the same work. Selectors (query parameters that name the object's
// parent) are checked before permissions, because a missing selector reveals nothing about any object.
import type { Context } from "hono";
import { Uuid } from "../contract/common.ts";
import type { ScopeColumns } from "../contract/scope.ts";
import { type Fault, fault } from "../contract/fault.ts";
import type { FindRow } from "../db/shared-finds.ts";
import type { HttpEnv } from "../http/env.ts";

type Ctx = Context<HttpEnv>;

export type ResourceScope = {
  readonly silo_id: string;
  /** Null when the object is a silo or belongs to a silo as a whole. */
  readonly tenant_id: string | null;
  /** Null if the object belongs to no project, for example because it is a tenant. */
  readonly project_id: string | null;
};

/** The scope of an image, an SSH key or an operation: public, a level of the hierarchy, or a user. */
export type RecordScope = ScopeColumns;

/** Marks a list that is not limited to one scope. The route returns only the rows that the caller may see. */
export type Anywhere = { readonly anywhere: true };

/** The way in which a route finds the scope of its object. */
export type Locate = {
  /** Query parameters that the request must have. */
  readonly selectors?: readonly string[];
  /** The required parameters of this request, for a route without `selectors`. */
  readonly wanted?: (c: Ctx) => readonly string[];
  /** The error text for a missing parameter. Default: a text that lists the required parameters. */
  readonly missing?: (c: Ctx) => string;
  /**
   * Returns the scope, or Anywhere for a list that spans all scopes. Returns null when the object does not exist, and a
   * Fault when an id is not a UUID.
   */
  readonly find: (c: Ctx, findRow: FindRow) => Promise<ResourceScope | RecordScope | Anywhere | null | Fault>;
};

/** Tables whose rows have the columns tenant_id and project_id. */
export type ScopedTable =
  | "vpc"
  | "subnet"
  | "nat_gateway"
  | "floating_ip"
  | "route_table"
  | "route"
  | "firewall_rule"
  | "port_forward"
  | "webhook"
  | "placement_group"
  | "image_upload"
  | "instance"
  | "disk"
  | "nic";

/**
 * For a route that needs selectors, returns the 400 if a selector is missing or the request has the silo selector.
 * Otherwise returns null.
 */
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

/** The project that `?tenant=&project=` names. A project of another tenant counts as missing. */
export const inProject: Locate = {
  selectors: ["tenant", "project"],
  find: (c, findRow) =>
    withIds(
      c,
      { tenant: "query", project: "query" },
      ([tenant = "", project = ""]) => findProject(findRow, project, { tenant_id: tenant }),
    ),
};

/** The VPC that `?vpc=` names. `?project=`, if sent, must be the project of the VPC. */
export const inVpc: Locate = inParent("vpc", "vpc");

/** The route table that `?route_table=` names. `?project=` is ignored. */
export const inRouteTable: Locate = inParent("route_table", null);

/** The instance that `?instance=` names. */
export const inInstance: Locate = inParent("instance", null);

/** The disk that `?disk=` names. */
export const ofDisk: Locate = inParent("disk", null);

/** For lists of disks. The request must name one instance or one project. */
export const ofDisks: Locate = {
  wanted: (c) => narrow(c, ["instance"]) ? [] : ["tenant", "project"],
  missing: (c) => `${c.req.method} ${c.req.path} requires \`?instance=<uuid>\` or \`?tenant=<uuid>&project=<uuid>\``,
  find: (c, findRow) => (narrow(c, ["instance"]) ? inInstance : inProject).find(c, findRow),
};

/**
 * For lists of instances. The request must name a project, an image (`?image=`) or a node (`?cn=`). Without a project,
 * the list spans all projects.
 */
export const ofInstances: Locate = {
  wanted: (c) => narrow(c, ["image", "cn"]) ? [] : ["tenant", "project"],
  missing: () => "set `image=`, `cn=`, or `tenant=&project=` to scope the list",
  find: async (c, findRow) => {
    const placed = (c.req.query("tenant") ?? "") !== "" && (c.req.query("project") ?? "") !== "";
    return placed ? await inProject.find(c, findRow) : ANYWHERE;
  },
};

/**
 * For lists of NICs. With `?ip=`, the list spans all projects. Otherwise the request must name one subnet, instance or
 * project.
 */
export const ofNics: Locate = {
  wanted: (c) => narrow(c, ["ip", "subnet", "instance"]) ? [] : ["tenant", "project"],
  missing: (c) =>
    `${c.req.method} ${c.req.path} requires one of \`?ip=\`, \`?subnet=<uuid>\` and \`?instance=<uuid>\`, or ` +
    "`?tenant=<uuid>&project=<uuid>`",
  find: async (c, findRow) => {
    if (narrow(c, ["ip"])) return ANYWHERE;
    if (narrow(c, ["subnet"])) return await inParent("subnet", null).find(c, findRow);
    return await (narrow(c, ["instance"]) ? inInstance : inProject).find(c, findRow);
  },
};

const ANYWHERE: Anywhere = { anywhere: true };

function narrow(c: Ctx, keys: readonly string[]): boolean {
  return keys.some((key) => (c.req.query(key) ?? "") !== "");
}

function inParent(table: "vpc" | "route_table" | "instance" | "subnet" | "disk", compared: "vpc" | null): Locate {
  return {
    selectors: [table],
    find: async (c, findRow) => {
      const names = compared !== null && c.req.query("project") !== undefined ? [table, "project"] : [table];
      return await withIds(c, Object.fromEntries(names.map((name) => [name, "query" as const])), async (ids) => {
        const scope = await findIn(findRow, table, ids[0]!);
        return ids[1] === undefined || scope?.project_id === ids[1] ? scope : null;
      });
    },
  };
}

/** Returns the Locate of an object whose id is in the path. */
export function atRow(table: ScopedTable, param: string): Locate {
  return { find: (c, findRow) => withIds(c, { [param]: "path" }, ([id = ""]) => findIn(findRow, table, id)) };
}

/** An operation, with the scope of the tenant that it refers to. Only operators may see operations without a tenant. */
export const atOperation: Locate = {
  find: (c, findRow) => withIds(c, { id: "path" }, ([id = ""]) => findOperationScope(findRow, id)),
};

/** Returns the Locate of an image or an SSH key whose id is in the path. */
export function atScoped(table: "image" | "ssh_key", param: string): Locate {
  const user = table === "image" ? "null as user_id" : "user_id";
  const sql =
    `select id as found_id, scope_kind, silo_id, tenant_id, project_id, ${user} from ${table} where id = any($1)`;
  return { find: (c, findRow) => withIds(c, { [param]: "path" }, ([id = ""]) => findRow<RecordScope>(sql, id)) };
}

export const atSilo: Locate = {
  find: (c, findRow) =>
    withIds(c, { silo_id: "path" }, async ([id = ""]) => {
      return await findRow<ResourceScope>(
        "select id as found_id, id as silo_id, null as tenant_id, null as project_id from silo where id = any($1)",
        id,
      );
    }),
};

/** A tenant below a silo; the path contains both ids. A tenant of another silo counts as missing. */
export const atTenantOfSilo: Locate = {
  find: (c, findRow) =>
    withIds(c, { silo_id: "path", tenant_id: "path" }, async ([silo_id = "", id = ""]) => {
      const scope = await findTenant(findRow, id);
      return scope?.silo_id === silo_id ? scope : null;
    }),
};

export const atTenant: Locate = {
  find: (c, findRow) => withIds(c, { tenant_id: "path" }, ([id = ""]) => findTenant(findRow, id)),
};

export const atProject: Locate = {
  find: (c, findRow) =>
    withIds(
      c,
      { tenant_id: "path", project_id: "path" },
      ([tenant_id = "", id = ""]) => findProject(findRow, id, { tenant_id }),
    ),
};

/**
 * A floating IP below a project; the path contains all three ids. A floating IP of another tenant or project counts as
 * missing.
 */
export const atFloatingIpOfProject: Locate = {
  find: (c, findRow) =>
    withIds(c, { tenant_id: "path", project_id: "path", floating_ip_id: "path" }, async (ids) => {
      const [tenant_id, project_id, id = ""] = ids;
      const scope = await findIn(findRow, "floating_ip", id);
      return scope?.tenant_id === tenant_id && scope?.project_id === project_id ? scope : null;
    }),
};

/** Reads ids from the request and calls `find` with them. Returns a Fault for an id that is not a UUID. */
async function withIds<S>(
  c: Ctx,
  names: Readonly<Record<string, "path" | "query">>,
  find: (ids: readonly string[]) => Promise<S | null>,
): Promise<S | null | Fault> {
  const ids: string[] = [];
  for (const [name, where] of Object.entries(names)) {
    const parsed = Uuid.safeParse(where === "path" ? c.req.param(name) : c.req.query(name));
    if (!parsed.success) return fault("bad_request", `${where}.${name}: must be a UUID`);
    ids.push(parsed.data);
  }
  return await find(ids);
}

async function findIn(findRow: FindRow, table: ScopedTable, id: string): Promise<ResourceScope | null> {
  const columns = "t.silo_id, x.tenant_id, x.project_id";
  return await findRow<ResourceScope>(
    `select x.id as found_id, ${columns} from ${table} x join tenant t on t.id = x.tenant_id where x.id = any($1)`,
    id,
  );
}

async function findOperationScope(findRow: FindRow, id: string): Promise<RecordScope | null> {
  return await findRow<RecordScope>(
    `select s.id as found_id, 'tenant' as scope_kind, t.silo_id, t.id as tenant_id, null as project_id, null as user_id
       from saga s left join lateral (
         select r->>'id' as id from jsonb_array_elements(s.refs) r where r->>'scope' = 'tenant' limit 1) ref on true
       left join tenant t on t.id = ref.id::uuid
      where s.id = any($1)`,
    id,
  );
}

async function findTenant(findRow: FindRow, id: string): Promise<ResourceScope | null> {
  return await findRow<ResourceScope>(
    "select id as found_id, silo_id, id as tenant_id, null as project_id from tenant where id = any($1)",
    id,
  );
}

async function findProject(
  findRow: FindRow,
  id: string,
  of: { readonly tenant_id: string },
): Promise<ResourceScope | null> {
  const scope = await findRow<ResourceScope>(
    `select p.id as found_id, t.silo_id, p.tenant_id, p.id as project_id from project p join tenant t on t.id = p.tenant_id
      where p.id = any($1)`,
    id,
  );
  return scope?.tenant_id === of.tenant_id ? scope : null;
}
