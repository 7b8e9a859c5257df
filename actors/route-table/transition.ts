// A route table of a VPC. The one named main comes and goes with its VPC and is never renamed; the others go when they
// hold no route and no subnet uses them (document 3, Networking rules).
import { conflict, NOT_FOUND } from "../../src/contract/fault.ts";
import type { RouteTable } from "../../src/contract/network.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { nameFault, renamed, type Renaming } from "../../src/lib/text/resource-name.ts";
import { audit, go, guard, lock, refuse } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";
import type { VpcMember } from "../vpc/state.ts";

export type RouteTableMessage =
  | ({
    readonly type: "create";
    /** True only from the VPC that is being made. */
    readonly is_main: boolean;
  } & VpcMember)
  | ({ readonly type: "update" } & Renaming)
  | { readonly type: "delete" }
  /** The VPC of a main table goes, and has seen that nothing uses the table. */
  | { readonly type: "vpc_deleted" };

export type RouteTableState = VpcMember & {
  readonly state: "live";
  readonly is_main: boolean;
  readonly created_at: Date;
};

type Live = At<RouteTableState, "live">;

export const routeTableTable: Table<RouteTableState, RouteTableMessage> = {
  create: { absent: create, live: "route table exists already" },
  update: { absent: "missing", live: update },
  delete: { absent: "missing", live: remove },
  vpc_deleted: { absent: "ignore", live: goWithVpc },
};

function create(_s: null, m: Of<RouteTableMessage, "create">, now: Date): Out<RouteTableState> {
  const { type: _type, ...fields } = m;
  const { id, name, vpc_id, is_main } = fields;
  const broken = nameFault(name);
  if (broken !== null) return refuse(broken);
  return go(
    { state: "live", ...fields, created_at: now },
    lock(lockKey("vpc", vpc_id), true),
    audit("route_table_create", resource(id), { name, vpc_id, is_main }),
  );
}

function update(s: Live, m: Of<RouteTableMessage, "update">): Out<RouteTableState> {
  const next = renamed(s, m);
  if ("message" in next) return refuse(next);
  if (s.is_main && next.name !== s.name) return refuse(conflict("the main route table of a vpc cannot be renamed"));
  return go(
    next,
    // New routes and subnets refer to the row that this writes.
    lock(lockKey("vpc", s.vpc_id)),
    audit("route_table_update", resource(s.id), { name: next.name }),
  );
}

function remove(s: Live): Out<RouteTableState> {
  const { id, name, vpc_id } = s;
  if (s.is_main) return refuse(conflict("the main route table of a vpc cannot be deleted"));
  return go<RouteTableState>(
    null,
    lock(lockKey("vpc", vpc_id)),
    guard("route_table_is_unused", { route_table_id: id }, `route table ${id} is still used by <WHAT>`),
    audit("route_table_delete", resource(id), { name, vpc_id }),
  );
}

function goWithVpc(s: Live): Out<RouteTableState> {
  return go<RouteTableState>(null, audit("route_table_delete", resource(s.id), { name: s.name, vpc_id: s.vpc_id }));
}

function resource(id: string): string {
  return `RouteTable::"${id}"`;
}

export function routeTableView(s: RouteTableState): RouteTable {
  const { id, tenant_id, project_id, vpc_id, name, description, is_main } = s;
  return {
    id,
    tenant_id,
    project_id,
    project: project_id,
    vpc_id,
    vpc: vpc_id,
    name,
    description,
    is_main,
    created_at: toRfc3339(s.created_at),
  };
}

export const routeTable: Behavior<RouteTableState, RouteTableMessage> = {
  kind: "route-table",
  table: "route_table",
  key: "id",
  step: (s, m, now) => runTable(routeTableTable, s, m, now),
  deadline: () => null,
  view: routeTableView,
  constraints: {
    route_table_name: conflict("a route table named <name> already exists in this vpc"),
    route_table_vpc_fkey: NOT_FOUND,
  },
};
