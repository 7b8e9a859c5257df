// A route table of a VPC. The table named main is created and deleted with its VPC and is never renamed. A delete of
// any other table is refused while the table holds a route or a subnet uses it (docs/networking.md).
import { conflict, NOT_FOUND } from "../../src/contract/fault.ts";
import type { RouteTable } from "../../src/contract/network.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { audit, go, guard, lock } from "../engine/effects.ts";
import type { Out } from "../engine/types.ts";
import { type Create, type Delete, record, type RecordState, type Update } from "../record/record.ts";
import type { VpcMember } from "../vpc/state.ts";

/** `is_main` is true only in the create that comes from a new VPC. */
type Columns = VpcMember & { readonly is_main: boolean };

export type RouteTableMessage =
  | Create<Columns>
  | Update
  | Delete
  /** The VPC of a main table is deleted. The delete of the VPC checks that nothing uses the table. */
  | { readonly type: "vpc_deleted" };

export type RouteTableState = RecordState<Columns>;

export const routeTable = record<RouteTableState, RouteTableMessage, RouteTable>({
  kind: "route-table",
  table: "route_table",
  noun: "route table",
  resource: "RouteTable",
  parent: ({ vpc_id }) => lockKey("vpc", vpc_id),
  create: { action: "route_table_create", note: ["name", "vpc_id", "is_main"] },
  update: {
    action: "route_table_update",
    row: (next, _m, { before }) =>
      next.is_main && next.name !== before.name ? conflict("the main route table of a vpc cannot be renamed") : next,
    // New routes and subnets refer to this row, so their creates take the same lock.
    parts: ({ vpc_id }) => [lock(lockKey("vpc", vpc_id))],
  },
  delete: {
    action: "route_table_delete",
    note: ["name", "vpc_id"],
    check: ({ is_main }) => is_main ? conflict("the main route table of a vpc cannot be deleted") : null,
    parts: ({ id, vpc_id }) => [
      lock(lockKey("vpc", vpc_id)),
      guard("route_table_is_unused", { route_table_id: id }, `route table ${id} is still used by <WHAT>`),
    ],
  },
  others: { vpc_deleted: { absent: "ignore", live: goWithVpc } },
  has_labels: true,
  view: ({ id, tenant_id, project_id, vpc_id, name, description, labels = {}, is_main, created_at }) => ({
    id,
    tenant_id,
    project_id,
    project: project_id,
    vpc_id,
    vpc: vpc_id,
    name,
    description,
    labels,
    is_main,
    created_at: toRfc3339(created_at),
  }),
  constraints: {
    route_table_name: conflict("a route table named <name> already exists in this vpc"),
    route_table_vpc_fkey: NOT_FOUND,
  },
});

function goWithVpc({ id, tenant_id, project_id, name, vpc_id }: RouteTableState): Out<RouteTableState> {
  const note = { tenant_id, project_id, name, vpc_id };
  return go<RouteTableState>(null, audit("route_table_delete", `RouteTable::"${id}"`, note));
}
