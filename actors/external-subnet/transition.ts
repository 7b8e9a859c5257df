// An external subnet: a block of public addresses on a NIC tag, from which floating IPs and NAT gateways get their
// addresses. Its addresses are in a pool of its own, or in the fixed pool (src/lib/net/public-pool.ts) of the same
// block. The blocks of two external subnets never overlap (docs/networking.md).
import { badRequest, conflict, type Fault, fault } from "../../src/contract/fault.ts";
import type { ExternalSubnet } from "../../src/contract/external-network.ts";
import type { AddressFamily } from "../../src/contract/enums.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import type { ProvisionRange } from "../../src/lib/net/provision-range.ts";
import { externalPool, isShared } from "../../src/lib/net/public-pool.ts";
import type { Named } from "../../src/lib/text/resource-name.ts";
import { effect, guard, insert, lock, remove } from "../engine/effects.ts";
import type { Part } from "../engine/types.ts";
import { type Create, type Delete, record, type RecordState, type Update } from "../record/record.ts";

type Shared = Named & {
  readonly id: string;
  readonly nic_tag: string;
  readonly vlan_id: number | null;
  readonly owner_silos: readonly string[];
};

type Fields = Shared & { readonly ranges: { readonly v4: ProvisionRange | null; readonly v6: ProvisionRange | null } };

export type ExternalSubnetMessage =
  | Create<Fields>
  | (Update & { readonly owner_silos: readonly string[] | null })
  | Delete;

export type ExternalSubnetState = RecordState<
  Shared & {
    readonly ipv4_block: string | null;
    readonly ipv6_block: string | null;
    readonly provision_start_ipv4: string | null;
    readonly provision_end_ipv4: string | null;
    readonly provision_start_ipv6: string | null;
    readonly provision_end_ipv6: string | null;
    readonly gateway_ipv4: string | null;
    readonly gateway_ipv6: string | null;
  }
>;

const NO_NIC_TAG = fault("conflict", "there is no NIC tag <nic_tag>", { error_code: "NicTagNotProvided" });

export const externalSubnet = record<ExternalSubnetState, ExternalSubnetMessage, ExternalSubnet>({
  kind: "external-subnet",
  table: "external_subnet",
  noun: "external subnet",
  resource: "ExternalSubnet",
  create: {
    action: "external_subnet_create",
    note: ["name", "nic_tag", "vlan_id", "ipv4_block", "ipv6_block", "owner_silos"],
    row: ({ type: _type, ranges: { v4, v6 }, ...columns }) => ({
      ...columns,
      ipv4_block: v4?.block ?? null,
      ipv6_block: v6?.block ?? null,
      provision_start_ipv4: v4?.start ?? null,
      provision_end_ipv4: v4?.end ?? null,
      provision_start_ipv6: v6?.start ?? null,
      provision_end_ipv6: v6?.end ?? null,
      gateway_ipv4: v4?.gateway ?? null,
      gateway_ipv6: v6?.gateway ?? null,
    }),
    parts: ({ id, nic_tag, owner_silos, ipv4_block, ipv6_block }, { ranges: { v4, v6 } }) => [
      // Only one create of an external subnet commits at a time, so each create sees the blocks of all others.
      lock("external-subnets"),
      lock(lockKey("nic-tag", nic_tag), true),
      ...silosExist(owner_silos),
      guard("nic_tag_exists", { name: nic_tag }, {
        ...NO_NIC_TAG,
        message: NO_NIC_TAG.message.replace("<nic_tag>", nic_tag),
      }),
      guard("external_subnet_is_apart", { ipv4_block, ipv6_block }, overlap("<WHAT>")),
      effect("external_network_changed", { ipv4_block, ipv6_block }),
      ...(v4 === null ? [] : ownPool(id, "v4", v4)),
      ...(v6 === null ? [] : ownPool(id, "v6", v6)),
    ],
  },
  update: {
    action: "external_subnet_update",
    note: ["name", "owner_silos"],
    row: (next, m) => ({ ...next, owner_silos: m.owner_silos ?? next.owner_silos }),
    parts: ({ owner_silos }) => silosExist(owner_silos),
  },
  delete: {
    action: "external_subnet_delete",
    note: ["name"],
    parts: ({ id, ipv4_block, ipv6_block }) => [
      lock(lockKey("external-subnet", id)),
      // The second guard refuses all cases that the first guard refuses. The first guard runs earlier only for its more
      // exact text.
      guard(
        "external_subnet_is_off_nodes",
        { id },
        `<WHAT>, which a deleted nat gateway had from external subnet ${id}; wait until the node has stopped the gateway`,
      ),
      guard(
        "external_subnet_is_unused",
        { id },
        `external subnet ${id} is still used by <WHAT>, which must be deleted first`,
      ),
      effect("external_network_changed", { ipv4_block, ipv6_block }),
      ...dropPool(id, "v4", ipv4_block),
      ...dropPool(id, "v6", ipv6_block),
    ],
  },
  view: (row) => ({
    id: row.id,
    name: row.name,
    description: row.description,
    kind: "external",
    nic_tag: row.nic_tag,
    vlan_id: row.vlan_id,
    ipv4_block: row.ipv4_block,
    ipv6_block: row.ipv6_block,
    provision_start_ipv4: row.provision_start_ipv4,
    provision_end_ipv4: row.provision_end_ipv4,
    provision_start_ipv6: row.provision_start_ipv6,
    provision_end_ipv6: row.provision_end_ipv6,
    gateway_ipv4: row.gateway_ipv4,
    gateway_ipv6: row.gateway_ipv6,
    owner_silos: [...row.owner_silos],
    created_at: toRfc3339(row.created_at),
  }),
  constraints: {
    external_subnet_name: conflict("an external subnet named <name> already exists"),
    external_subnet_nic_tag: NO_NIC_TAG,
    external_subnet_ipv4_apart: overlap("another external subnet"),
    external_subnet_ipv6_apart: overlap("another external subnet"),
    pool_blocks_apart: overlap("another pool"),
  },
});

/**
 * Returns the rows of a pool for the block, or none if the block has a fixed pool. The pool counts offsets from its
 * first provisioned address, so that the offsets stay small in a block of any size.
 */
function ownPool(id: string, family: AddressFamily, range: ProvisionRange): Part<ExternalSubnetState>[] {
  if (isShared(family, range.block)) return [];
  const pool_id = externalPool(id, family, range.block);
  return [
    insert("pool", { id: pool_id, base: range.start, network: range.block }),
    insert("pool_range", { pool_id, low: 0, high: range.count - 1 }),
  ];
}

function dropPool(id: string, family: AddressFamily, block: string | null): Part<ExternalSubnetState>[] {
  if (block === null || isShared(family, block)) return [];
  return [remove("pool", { id: externalPool(id, family, block) })];
}

function silosExist(silos: readonly string[]): Part<never>[] {
  return [
    ...silos.map((silo_id) => lock(lockKey("silo", silo_id), true)),
    guard("silos_exist", { silos }, badRequest("owner_silos: there is no silo <WHAT>")),
  ];
}

function overlap(peer: string): Fault {
  return fault("conflict", `the external subnet overlaps ${peer}`, { error_code: "SubnetCidrOverlap" });
}
