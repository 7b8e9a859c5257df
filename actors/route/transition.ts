// A route of a route table: a destination and where its packets go. A table has one route per destination, compared
// after the host bits are dropped (document 3, Networking rules).
import { badRequest, conflict, type Fault, NOT_FOUND } from "../../src/contract/fault.ts";
import type { Route, RouteTarget } from "../../src/contract/network.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { type Blocks, blockText, parseBlock, planFor, storedBlock } from "../../src/lib/net/ip-block.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { nameFault, renamed, type Renaming } from "../../src/lib/text/resource-name.ts";
import { audit, go, lock, refuse } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";
import type { VpcMember, VpcPlace } from "../vpc/state.ts";

export type RouteMessage =
  | ({
    readonly type: "create";
    readonly route_table_id: string;
    readonly destination: string;
    readonly target: RouteTarget;
    /** The NAT gateway that the target names, of which nothing asked here ever changes; null when there is none. */
    readonly gateway: VpcPlace | null;
    /** What the VPC plans, which never changes. */
    readonly plan: Blocks;
  } & VpcMember)
  | ({ readonly type: "update" } & Renaming)
  | { readonly type: "delete" };

export type RouteState = VpcMember & {
  readonly state: "live";
  readonly route_table_id: string;
  readonly destination: string;
  readonly target_kind: "blackhole" | "reject" | "virtual_gateway" | "nat_gateway";
  readonly nat_gateway_id: string | null;
  readonly created_at: Date;
};

type Live = At<RouteState, "live">;

export const routeTransitions: Table<RouteState, RouteMessage> = {
  create: { absent: create, live: "route exists already" },
  update: { absent: "missing", live: update },
  delete: { absent: "missing", live: remove },
};

function create(_s: null, m: Of<RouteMessage, "create">, now: Date): Out<RouteState> {
  const { id, tenant_id, project_id, vpc_id, route_table_id, name, description } = m;
  const destination = parseBlock(m.destination);
  if (destination === null) return refuse(badRequest("destination must be a network"));
  const target = targetOf(m);
  if ("message" in target) return refuse(target);
  const broken = nameFault(name);
  if (broken !== null) return refuse(broken);
  const planned = planFor(destination, m.plan);
  if ("message" in planned) return refuse(planned);
  const text = blockText(destination);
  return go(
    {
      id,
      state: "live",
      tenant_id,
      project_id,
      vpc_id,
      route_table_id,
      name,
      description,
      destination: text,
      ...target,
      created_at: now,
    },
    lock(lockKey("vpc", vpc_id), true),
    audit("route_create", resource(id), { name, route_table_id, destination: text, target: m.target }),
  );
}

/** The columns of the target, or the 400 or 404 for one that this route may not have. */
function targetOf(m: Of<RouteMessage, "create">): Pick<RouteState, "target_kind" | "nat_gateway_id"> | Fault {
  const { target, gateway } = m;
  switch (target.kind) {
    case "blackhole":
    case "reject":
    case "virtual_gateway":
      return { target_kind: target.kind, nat_gateway_id: null };
    case "nat_gateway":
      if (gateway === null || gateway.tenant_id !== m.tenant_id || gateway.project_id !== m.project_id) {
        return NOT_FOUND;
      }
      if (gateway.vpc_id !== m.vpc_id) {
        return badRequest(`nat gateway ${target.nat_gateway_id} is not in vpc ${m.vpc_id}`);
      }
      return { target_kind: target.kind, nat_gateway_id: target.nat_gateway_id };
    case "floating_ip":
      return badRequest("floating ip route targets are system-installed only in v1");
  }
}

function update(s: Live, m: Of<RouteMessage, "update">): Out<RouteState> {
  const next = renamed(s, m);
  if ("message" in next) return refuse(next);
  return go(
    next,
    audit("route_update", resource(s.id), { name: next.name }),
  );
}

function remove(s: Live): Out<RouteState> {
  const { id, name, route_table_id, destination } = s;
  return go<RouteState>(null, audit("route_delete", resource(id), { name, route_table_id, destination }));
}

function resource(id: string): string {
  return `Route::"${id}"`;
}

export function routeView(s: RouteState): Route {
  const { id, tenant_id, project_id, vpc_id, route_table_id, name, description } = s;
  return {
    id,
    tenant_id,
    project_id,
    vpc_id,
    vpc: vpc_id,
    route_table_id,
    route_table: route_table_id,
    name,
    description,
    destination: storedBlock(s.destination),
    target: targetView(s),
    created_at: toRfc3339(s.created_at),
  };
}

function targetView({ target_kind, nat_gateway_id }: RouteState): RouteTarget {
  if (target_kind !== "nat_gateway") return { kind: target_kind };
  if (nat_gateway_id === null) throw new Error("a route to no NAT gateway");
  return { kind: target_kind, nat_gateway_id };
}

export const route: Behavior<RouteState, RouteMessage> = {
  kind: "route",
  table: "route",
  key: "id",
  step: (s, m, now) => runTable(routeTransitions, s, m, now),
  deadline: () => null,
  view: routeView,
  constraints: {
    route_destination: conflict("the route table has a route to <destination> already"),
    route_route_table_fkey: NOT_FOUND,
    route_vpc_fkey: NOT_FOUND,
    route_nat_gateway_fkey: NOT_FOUND,
  },
};
