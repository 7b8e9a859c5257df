// A subnet of a VPC. Its blocks are inside the blocks of the VPC and overlap no other subnet of the VPC. A create takes
// the lock of the VPC exclusively, so its guard sees every other subnet of the VPC. A create also creates the pools of
// the subnet's addresses.
import { badRequest, conflict, type Fault, isFault, NOT_FOUND } from "../../src/contract/fault.ts";
import type { Subnet } from "../../src/contract/network.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import type { Cidr } from "../../src/lib/net/ip-address.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { type Blocks, blockText, type GivenBlocks, readBlocks, storedBlock } from "../../src/lib/net/ip-block.ts";
import { subnetLock, subnetPool } from "../../src/lib/net/subnet-pool.ts";
import { audit, go, guard, lock, refuse, remove } from "../engine/effects.ts";
import type { Out, Part } from "../engine/types.ts";
import { type Create, type Delete, record, type RecordState, type Update } from "../record/record.ts";
import { vpcChanged } from "../record/vpc-change.ts";
import type { VpcMember, VpcPlace } from "../vpc/state.ts";
import { misplaced, poolOf, tooSmall } from "./blocks.ts";

type Fields = VpcMember & GivenBlocks & {
  /** The main route table of the VPC. */
  readonly route_table_id: string;
  /** The blocks of the VPC, which never change. */
  readonly plan: Blocks;
};

/**
 * `table` is the route table as the API request read it, or null if it does not exist. The scope of a table never
 * changes.
 */
type UseRouteTable = { readonly type: "use_route_table"; readonly table: (VpcPlace & { readonly id: string }) | null };

export type SubnetMessage = Create<Fields> | Update | UseRouteTable | Delete;

export type SubnetState = RecordState<
  VpcMember & Blocks & {
    readonly route_table_id: string;
    /** Copies of the VPC's blocks, in the families in which this subnet has a block. A foreign key keeps them equal. */
    readonly vpc_ipv4_block: string | null;
    readonly vpc_ipv6_block: string | null;
  }
>;

const OVERLAPS = conflict("the block overlaps another subnet of the same vpc");

export const subnet = record<SubnetState, SubnetMessage, Subnet>({
  kind: "subnet",
  table: "subnet",
  noun: "subnet",
  resource: "Subnet",
  create: {
    action: "subnet_create",
    note: ["name", "vpc_id", "ipv4_block", "ipv6_block"],
    row: rowOf,
    check: (row, { plan }) => misplaced(blocksOf(row), plan),
    parts: partsOf,
  },
  update: { action: "subnet_update" },
  delete: {
    action: "subnet_delete",
    note: ["name", "vpc_id"],
    parts: ({ id: subnet_id, vpc_id }) => [
      lock(subnetLock(subnet_id)),
      guard("subnet_is_empty", { subnet_id }, `subnet ${subnet_id} still holds <WHAT>, which must be deleted first`),
      remove("pool", { id: subnetPool(subnet_id, "v4") }),
      remove("pool", { id: subnetPool(subnet_id, "v6") }),
      vpcChanged({ vpc_id }),
    ],
  },
  others: { use_route_table: { absent: "missing", live: useRouteTable } },
  has_labels: true,
  view: (row) => ({
    id: row.id,
    tenant_id: row.tenant_id,
    project_id: row.project_id,
    vpc_id: row.vpc_id,
    vpc: row.vpc_id,
    route_table_id: row.route_table_id,
    name: row.name,
    description: row.description,
    labels: row.labels ?? {},
    ipv4_block: storedBlock(row.ipv4_block),
    ipv6_block: storedBlock(row.ipv6_block),
    kind: "internal",
    // Only external subnets have these fields.
    nic_tag: null,
    vlan_id: null,
    provision_start_ipv4: null,
    provision_end_ipv4: null,
    provision_start_ipv6: null,
    provision_end_ipv6: null,
    realized: null,
    created_at: toRfc3339(row.created_at),
  }),
  constraints: {
    subnet_name: conflict("a subnet named <name> already exists in this vpc"),
    subnet_ipv4_apart: OVERLAPS,
    subnet_ipv6_apart: OVERLAPS,
    subnet_vpc_fkey: NOT_FOUND,
    subnet_ipv4_plan_fkey: NOT_FOUND,
    subnet_ipv6_plan_fkey: NOT_FOUND,
    subnet_route_table_fkey: NOT_FOUND,
  },
});

function rowOf(m: Create<Fields>): Omit<SubnetState, "state" | "created_at"> | Fault {
  const { id, tenant_id, project_id, vpc_id, route_table_id, name, description, plan } = m;
  const read = readBlocks(m, "subnet");
  if (isFault(read)) return read;
  const small = tooSmall([read.ipv4, read.ipv6].filter((block) => block !== null));
  if (small !== null) return small;
  return {
    id,
    tenant_id,
    project_id,
    vpc_id,
    route_table_id,
    name,
    description,
    ...read.text,
    vpc_ipv4_block: read.ipv4 && plan.ipv4_block,
    vpc_ipv6_block: read.ipv6 && plan.ipv6_block,
  };
}

function partsOf(row: SubnetState): Part<SubnetState>[] {
  const { id, vpc_id } = row;
  const blocks = blocksOf(row);
  return [
    lock(lockKey("vpc", vpc_id)),
    ...blocks.map((block) => {
      const text = blockText(block);
      return guard("subnet_block_is_free", { vpc_id, block: text }, `${text} overlaps <WHAT> in the same vpc`);
    }),
    ...blocks.flatMap((block) => poolOf(id, block)),
    vpcChanged({ vpc_id }),
  ];
}

function blocksOf({ ipv4_block, ipv6_block }: Blocks): Cidr[] {
  const read = readBlocks({ ipv4_block, ipv6_block }, "subnet");
  return isFault(read) ? [] : [read.ipv4, read.ipv6].filter((block) => block !== null);
}

function useRouteTable(s: SubnetState, { table }: UseRouteTable): Out<SubnetState> {
  if (table === null || table.tenant_id !== s.tenant_id || table.project_id !== s.project_id) return refuse(NOT_FOUND);
  if (table.vpc_id !== s.vpc_id) return refuse(badRequest(`route table ${table.id} is not in vpc ${s.vpc_id}`));
  if (table.id === s.route_table_id) return { out: "ignore" };
  const { tenant_id, project_id } = s;
  return go(
    { ...s, route_table_id: table.id },
    lock(lockKey("vpc", s.vpc_id), true),
    vpcChanged(s),
    audit("subnet_update", `Subnet::"${s.id}"`, { tenant_id, project_id, route_table_id: table.id }),
  );
}
