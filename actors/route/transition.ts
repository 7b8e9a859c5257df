// A route of a route table: a destination and the target of its packets. A table has at most one route to each
// destination. Host bits of a destination do not count (docs/networking.md).
import { badRequest, conflict, type Fault, isFault, NOT_FOUND } from "../../src/contract/fault.ts";
import type { Route, RouteTarget } from "../../src/contract/network.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { type Blocks, blockText, NOT_A_BLOCK, parseBlock, planFor, storedBlock } from "../../src/lib/net/ip-block.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { type Create, type Delete, record, type RecordState, type Update } from "../record/record.ts";
import { vpcChanged } from "../record/vpc-change.ts";
import type { VpcMember, VpcPlace } from "../vpc/state.ts";

type Fields = VpcMember & {
  readonly route_table_id: string;
  readonly destination: string;
  readonly target: RouteTarget;
  /**
   * The scope of the NAT gateway that is the target. The scope never changes. Null if the target is not a NAT gateway,
   * or if the gateway does not exist.
   */
  readonly gateway: VpcPlace | null;
  /** The blocks of the VPC, which never change. */
  readonly plan: Blocks;
};

export type RouteMessage = Create<Fields> | Update | Delete;

type TargetColumns = {
  readonly target_kind: "blackhole" | "reject" | "virtual_gateway" | "nat_gateway";
  readonly nat_gateway_id: string | null;
};

export type RouteState = RecordState<
  VpcMember & TargetColumns & { readonly route_table_id: string; readonly destination: string }
>;

export const route = record<RouteState, RouteMessage, Route>({
  kind: "route",
  table: "route",
  noun: "route",
  resource: "Route",
  parent: ({ vpc_id }) => lockKey("vpc", vpc_id),
  create: {
    action: "route_create",
    row: rowOf,
    check: ({ destination }, { plan }) => unplanned(destination, plan),
    note: ({ name, route_table_id, destination }, { target }) => ({ name, route_table_id, destination, target }),
    parts: (row) => [vpcChanged(row)],
  },
  update: { action: "route_update" },
  delete: {
    action: "route_delete",
    note: ["name", "route_table_id", "destination"],
    parts: (row) => [vpcChanged(row)],
  },
  has_labels: true,
  view: (row) => ({
    id: row.id,
    tenant_id: row.tenant_id,
    project_id: row.project_id,
    vpc_id: row.vpc_id,
    vpc: row.vpc_id,
    route_table_id: row.route_table_id,
    route_table: row.route_table_id,
    name: row.name,
    description: row.description,
    labels: row.labels ?? {},
    destination: storedBlock(row.destination),
    target: targetView(row),
    realized: null,
    created_at: toRfc3339(row.created_at),
  }),
  constraints: {
    route_destination: conflict("the route table already has a route to <destination>"),
    route_route_table_fkey: NOT_FOUND,
    route_vpc_fkey: NOT_FOUND,
    route_nat_gateway_fkey: NOT_FOUND,
  },
});

function rowOf(m: Create<Fields>) {
  const { id, tenant_id, project_id, vpc_id, route_table_id, name, description } = m;
  const destination = parseBlock(m.destination);
  if (destination === null) return badRequest(`destination ${m.destination} ${NOT_A_BLOCK}`);
  const target = targetOf(m);
  if (isFault(target)) return target;
  const place = { id, tenant_id, project_id, vpc_id, route_table_id };
  return { ...place, name, description, destination: blockText(destination), ...target };
}

/** Returns the columns of the target, or the fault for a target that this route may not have. */
function targetOf({ target, gateway, tenant_id, project_id, vpc_id }: Create<Fields>): TargetColumns | Fault {
  switch (target.kind) {
    case "blackhole":
    case "reject":
    case "virtual_gateway":
      return { target_kind: target.kind, nat_gateway_id: null };
    case "nat_gateway": {
      const { nat_gateway_id } = target;
      if (gateway === null || gateway.tenant_id !== tenant_id || gateway.project_id !== project_id) return NOT_FOUND;
      if (gateway.vpc_id !== vpc_id) return badRequest(`nat gateway ${nat_gateway_id} is not in vpc ${vpc_id}`);
      return { target_kind: target.kind, nat_gateway_id };
    }
    case "floating_ip":
      return badRequest("floating ip route targets are system-installed only in v1");
  }
}

/** Returns a 409 if the VPC has no block of the destination's family; otherwise null. */
function unplanned(destination: string, plan: Blocks): Fault | null {
  const block = parseBlock(destination);
  const planned = block && planFor(block, plan);
  return planned && isFault(planned) ? planned : null;
}

function targetView({ target_kind, nat_gateway_id }: TargetColumns): RouteTarget {
  if (target_kind !== "nat_gateway") return { kind: target_kind };
  if (nat_gateway_id === null) throw new Error("a route to a NAT gateway has no NAT gateway");
  return { kind: target_kind, nat_gateway_id };
}
