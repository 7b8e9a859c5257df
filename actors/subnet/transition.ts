// A subnet of a VPC. Its blocks lie inside those of the VPC and touch no other subnet's: creates hold the VPC's lock
// alone, so that what the guard sees is everything. It brings the pools that its addresses are allocated from.
import { badRequest, conflict, type Fault, NOT_FOUND } from "../../src/contract/fault.ts";
import { POOL_OFFSET_MAX, SUBNET_ADDRESSES_KEPT } from "../../src/contract/limits.ts";
import type { Subnet } from "../../src/contract/network.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { type Cidr, formatIp } from "../../src/lib/net/ip-address.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import {
  addressesOf,
  type Blocks,
  blockText,
  containsBlock,
  type GivenBlocks,
  planFor,
  readBlocks,
  storedBlock,
} from "../../src/lib/net/ip-block.ts";
import { nameFault, renamed, type Renaming } from "../../src/lib/text/resource-name.ts";
import { subnetLock, subnetPool } from "../../src/lib/net/subnet-pool.ts";
import { audit, go, guard, insert, lock, refuse, remove as removeRows } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, ChildWrite, Out } from "../engine/types.ts";
import type { VpcMember, VpcPlace } from "../vpc/state.ts";

export type SubnetMessage =
  | (
    & {
      readonly type: "create";
      /** The VPC's main one. */
      readonly route_table_id: string;
      /** What the VPC plans, which never changes. */
      readonly plan: Blocks;
    }
    & VpcMember
    & GivenBlocks
  )
  | ({ readonly type: "update" } & Renaming)
  /** The table as it was found, of which nothing asked here ever changes; null when there is none. */
  | { readonly type: "use_route_table"; readonly table: TableFacts | null }
  | { readonly type: "delete" };

type TableFacts = VpcPlace & { readonly id: string };

export type SubnetState = VpcMember & {
  readonly state: "live";
  readonly route_table_id: string;
  readonly ipv4_block: string | null;
  readonly ipv6_block: string | null;
  /** The VPC's blocks of the families that this subnet has, for the database to check against. */
  readonly vpc_ipv4_block: string | null;
  readonly vpc_ipv6_block: string | null;
  readonly created_at: Date;
};

type Live = At<SubnetState, "live">;

export const subnetTable: Table<SubnetState, SubnetMessage> = {
  create: { absent: create, live: "subnet exists already" },
  update: { absent: "missing", live: update },
  use_route_table: { absent: "missing", live: useRouteTable },
  delete: { absent: "missing", live: remove },
};

function create(_s: null, m: Of<SubnetMessage, "create">, now: Date): Out<SubnetState> {
  const { id, tenant_id, project_id, vpc_id, route_table_id, name, description, plan } = m;
  const read = readBlocks(m, "subnet");
  if ("message" in read) return refuse(read);
  const blocks = [read.ipv4, read.ipv6].filter((block) => block !== null);
  const wrong = tooSmall(blocks) ?? nameFault(name) ?? misplaced(blocks, plan);
  if (wrong !== null) return refuse(wrong);
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
      ...read.text,
      vpc_ipv4_block: read.ipv4 && plan.ipv4_block,
      vpc_ipv6_block: read.ipv6 && plan.ipv6_block,
      created_at: now,
    },
    lock(lockKey("vpc", vpc_id)),
    ...blocks.map((block) => {
      const text = blockText(block);
      return guard("subnet_block_is_free", { vpc_id, block: text }, `${text} overlaps <WHAT> in the same vpc`);
    }),
    ...blocks.flatMap((block) => poolOf(id, block)),
    audit("subnet_create", resource(id), { name, vpc_id, ...read.text }),
  );
}

/** The 400 for a block without room for one host beside what the subnet keeps. */
function tooSmall(blocks: readonly Cidr[]): Fault | null {
  for (const block of blocks) {
    const { low, high } = offsetsOf(block);
    if (high < low) return badRequest(`${blockText(block)} is too small: it has no address for a host`);
  }
  return null;
}

function misplaced(blocks: readonly Cidr[], plan: Blocks): Fault | null {
  for (const block of blocks) {
    const outer = planFor(block, plan);
    if ("message" in outer) return outer;
    if (!containsBlock(outer, block)) {
      return conflict(`${blockText(block)} is not inside ${blockText(outer)}, the block of the vpc`);
    }
  }
  return null;
}

/** Offsets that may be handed out: not those kept at the start, nor in IPv4 the broadcast address at the end. */
function offsetsOf(block: Cidr): { readonly low: number; readonly high: number } {
  const last = Number(addressesOf(block) - (block.family === 4 ? 2n : 1n));
  return { low: SUBNET_ADDRESSES_KEPT, high: Math.min(last, POOL_OFFSET_MAX) };
}

function poolOf(subnet_id: string, block: Cidr): readonly ChildWrite[] {
  const pool_id = subnetPool(subnet_id, block.family === 4 ? "v4" : "v6");
  const { low, high } = offsetsOf(block);
  return [
    insert("pool", { id: pool_id, base: formatIp({ family: block.family, value: block.network }) }),
    insert("pool_range", { pool_id, low, high }),
  ];
}

function update(s: Live, m: Of<SubnetMessage, "update">): Out<SubnetState> {
  const next = renamed(s, m);
  if ("message" in next) return refuse(next);
  return go(
    next,
    audit("subnet_update", resource(s.id), { name: next.name }),
  );
}

function useRouteTable(s: Live, { table }: Of<SubnetMessage, "use_route_table">): Out<SubnetState> {
  if (table === null || table.tenant_id !== s.tenant_id || table.project_id !== s.project_id) return refuse(NOT_FOUND);
  if (table.vpc_id !== s.vpc_id) return refuse(badRequest(`route table ${table.id} is not in vpc ${s.vpc_id}`));
  if (table.id === s.route_table_id) return { out: "ignore" };
  return go(
    { ...s, route_table_id: table.id },
    lock(lockKey("vpc", s.vpc_id), true),
    audit("subnet_update", resource(s.id), { route_table_id: table.id }),
  );
}

function remove(s: Live): Out<SubnetState> {
  const { id: subnet_id, name, vpc_id } = s;
  return go<SubnetState>(
    null,
    lock(subnetLock(subnet_id)),
    guard("subnet_is_empty", { subnet_id }, `subnet ${subnet_id} still holds <WHAT>; delete that first`),
    removeRows("pool", { id: subnetPool(subnet_id, "v4") }),
    removeRows("pool", { id: subnetPool(subnet_id, "v6") }),
    audit("subnet_delete", resource(subnet_id), { name, vpc_id }),
  );
}

function resource(id: string): string {
  return `Subnet::"${id}"`;
}

export function subnetView(s: SubnetState): Subnet {
  const { id, tenant_id, project_id, vpc_id, route_table_id, name, description } = s;
  return {
    id,
    tenant_id,
    project_id,
    vpc_id,
    vpc: vpc_id,
    route_table_id,
    name,
    description,
    ipv4_block: storedBlock(s.ipv4_block),
    ipv6_block: storedBlock(s.ipv6_block),
    kind: "internal",
    // These belong to external subnets.
    nic_tag: null,
    vlan_id: null,
    provision_start_ipv4: null,
    provision_end_ipv4: null,
    provision_start_ipv6: null,
    provision_end_ipv6: null,
    created_at: toRfc3339(s.created_at),
  };
}

const OVERLAPS = conflict("the block overlaps another subnet of the same vpc");

export const subnet: Behavior<SubnetState, SubnetMessage> = {
  kind: "subnet",
  table: "subnet",
  key: "id",
  step: (s, m, now) => runTable(subnetTable, s, m, now),
  deadline: () => null,
  view: subnetView,
  constraints: {
    subnet_name: conflict("a subnet named <name> already exists in this vpc"),
    subnet_ipv4_apart: OVERLAPS,
    subnet_ipv6_apart: OVERLAPS,
    subnet_vpc_fkey: NOT_FOUND,
    subnet_ipv4_plan_fkey: NOT_FOUND,
    subnet_ipv6_plan_fkey: NOT_FOUND,
    subnet_route_table_fkey: NOT_FOUND,
  },
};
