// An external subnet: a block of public addresses on a NIC tag, from which tenants take floating IPs. Its addresses stand
// in a pool of their own, or in the fixed pool of the very same block. Blocks never overlap. Document 4, 1.16 and 5.
import { badRequest, conflict, type Fault, fault } from "../../src/contract/fault.ts";
import type { ExternalSubnet } from "../../src/contract/external-network.ts";
import type { AddressFamily } from "../../src/contract/enums.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import type { ProvisionRange } from "../../src/lib/net/provision-range.ts";
import { externalPool, isShared } from "../../src/lib/net/public-pool.ts";
import { nameFault, renamed, type Renaming } from "../../src/lib/text/resource-name.ts";
import { audit, go, guard, insert, lock, refuse, remove } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out, Part } from "../engine/types.ts";

export type ExternalSubnetMessage =
  | {
    readonly type: "create";
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly nic_tag: string;
    readonly vlan_id: number | null;
    readonly ranges: { readonly v4: ProvisionRange | null; readonly v6: ProvisionRange | null };
    readonly owner_silos: readonly string[];
  }
  | ({ readonly type: "update"; readonly owner_silos: readonly string[] | null } & Renaming)
  | { readonly type: "delete" };

export type ExternalSubnetState = {
  readonly state: "live";
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly nic_tag: string;
  readonly vlan_id: number | null;
  readonly ipv4_block: string | null;
  readonly ipv6_block: string | null;
  readonly provision_start_ipv4: string | null;
  readonly provision_end_ipv4: string | null;
  readonly provision_start_ipv6: string | null;
  readonly provision_end_ipv6: string | null;
  readonly owner_silos: readonly string[];
  readonly created_at: Date;
};

type Live = At<ExternalSubnetState, "live">;
type Msg<T extends ExternalSubnetMessage["type"]> = Of<ExternalSubnetMessage, T>;

export const externalSubnetTable: Table<ExternalSubnetState, ExternalSubnetMessage> = {
  create: { absent: create, live: "external subnet exists already" },
  update: { absent: "missing", live: update },
  delete: { absent: "missing", live: destroy },
};

/** Document 4, 0.2. */
const OVERLAP = "SubnetCidrOverlap";
const NOT_PROVIDED = fault("conflict", "there is no NIC tag <nic_tag>", { error_code: "NicTagNotProvided" });

function create(_s: null, m: Msg<"create">, now: Date): Out<ExternalSubnetState> {
  const { id, name, description, nic_tag, vlan_id, ranges: { v4, v6 }, owner_silos } = m;
  const broken = nameFault(name);
  if (broken !== null) return refuse(broken);
  const next: ExternalSubnetState = {
    state: "live",
    id,
    name,
    description,
    nic_tag,
    vlan_id,
    ipv4_block: v4?.block ?? null,
    ipv6_block: v6?.block ?? null,
    provision_start_ipv4: v4?.start ?? null,
    provision_end_ipv4: v4?.end ?? null,
    provision_start_ipv6: v6?.start ?? null,
    provision_end_ipv6: v6?.end ?? null,
    owner_silos,
    created_at: now,
  };
  return go(
    next,
    // One at a time, so that each sees the blocks of all others.
    lock("external-subnets"),
    lock(lockKey("nic-tag", nic_tag), true),
    silosExist(owner_silos),
    guard("nic_tag_exists", { name: nic_tag }, {
      ...NOT_PROVIDED,
      message: NOT_PROVIDED.message.replace("<nic_tag>", nic_tag),
    }),
    guard("external_subnet_is_apart", { ipv4_block: next.ipv4_block, ipv6_block: next.ipv6_block }, overlap("<WHAT>")),
    ...(v4 === null ? [] : ownPool(id, "v4", v4)),
    ...(v6 === null ? [] : ownPool(id, "v6", v6)),
    audit("external_subnet_create", resource(id), {
      name,
      nic_tag,
      vlan_id,
      ipv4_block: next.ipv4_block,
      ipv6_block: next.ipv6_block,
      owner_silos,
    }),
  );
}

/** A pool counts from the first address that is handed out, so that its numbers stay small in any block. */
function ownPool(id: string, family: AddressFamily, range: ProvisionRange): Part<ExternalSubnetState>[] {
  if (isShared(family, range.block)) return [];
  const pool_id = externalPool(id, family, range.block);
  return [
    insert("pool", { id: pool_id, base: range.start, network: range.block }),
    insert("pool_range", { pool_id, low: 0, high: range.count - 1 }),
  ];
}

function update(s: Live, m: Msg<"update">): Out<ExternalSubnetState> {
  const next = renamed(s, m);
  if ("message" in next) return refuse(next);
  const owner_silos = m.owner_silos ?? s.owner_silos;
  return go(
    { ...next, owner_silos },
    silosExist(owner_silos),
    audit("external_subnet_update", resource(s.id), { name: next.name, owner_silos }),
  );
}

function destroy(s: Live): Out<ExternalSubnetState> {
  const { id, name } = s;
  return go<ExternalSubnetState>(
    null,
    lock(lockKey("external-subnet", id)),
    guard("external_subnet_is_unused", { id }, `external subnet ${id} is still used by <WHAT>; delete that first`),
    ...dropPool(id, "v4", s.ipv4_block),
    ...dropPool(id, "v6", s.ipv6_block),
    audit("external_subnet_delete", resource(id), { name }),
  );
}

function dropPool(id: string, family: AddressFamily, block: string | null): Part<ExternalSubnetState>[] {
  if (block === null || isShared(family, block)) return [];
  return [remove("pool", { id: externalPool(id, family, block) })];
}

function silosExist(silos: readonly string[]): Part<never> {
  return guard("silos_exist", { silos }, badRequest("owner_silos: <WHAT> is no silo"));
}

function overlap(peer: string): Fault {
  return fault("conflict", `the external subnet overlaps ${peer}`, { error_code: OVERLAP });
}

function resource(id: string): string {
  return `ExternalSubnet::"${id}"`;
}

export function externalSubnetView(s: ExternalSubnetState): ExternalSubnet {
  return {
    id: s.id,
    name: s.name,
    description: s.description,
    kind: "external",
    nic_tag: s.nic_tag,
    vlan_id: s.vlan_id,
    ipv4_block: s.ipv4_block,
    ipv6_block: s.ipv6_block,
    provision_start_ipv4: s.provision_start_ipv4,
    provision_end_ipv4: s.provision_end_ipv4,
    provision_start_ipv6: s.provision_start_ipv6,
    provision_end_ipv6: s.provision_end_ipv6,
    owner_silos: [...s.owner_silos],
    created_at: toRfc3339(s.created_at),
  };
}

export const externalSubnet: Behavior<ExternalSubnetState, ExternalSubnetMessage> = {
  kind: "external-subnet",
  table: "external_subnet",
  key: "id",
  step: (s, m, now) => runTable(externalSubnetTable, s, m, now),
  deadline: () => null,
  view: externalSubnetView,
  constraints: {
    external_subnet_name: conflict("an external subnet named <name> already exists"),
    external_subnet_nic_tag: NOT_PROVIDED,
    external_subnet_ipv4_apart: overlap("another one"),
    external_subnet_ipv6_apart: overlap("another one"),
    pool_blocks_apart: overlap("another pool"),
  },
};
