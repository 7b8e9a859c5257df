// Adds, changes and removes the NICs of an instance. NICs can be added and removed only while the instance is stopped,
// and the guest gets a new NIC at the next start. Addresses and allowed blocks can change while the instance runs,
// because the nodes get them in the network documents (docs/instances.md, "NICs").
import { badRequest, conflict, type Fault, isFault, NOT_FOUND } from "../../src/contract/fault.ts";
import { EXTRA_NICS_MAX, POOL_OFFSET_MAX } from "../../src/contract/limits.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { formatIp, inCidr, parseIp } from "../../src/lib/net/ip-address.ts";
import { type Blocks, blockText, containsBlock, NOT_A_BLOCK, parseBlock } from "../../src/lib/net/ip-block.ts";
import { canonicalMac } from "../../src/lib/net/mac.ts";
import { subnetLock, subnetPool } from "../../src/lib/net/subnet-pool.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { labelsFault, relabeled } from "../../src/lib/text/labels.ts";
import { nameFault, renameFault } from "../../src/lib/text/resource-name.ts";
import { allocate, countedLock, go, guard, insert, lock, refuse, remove, reply, upsert } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Condition, Out } from "../engine/types.ts";
import { vpcChanged } from "../record/vpc-change.ts";
import { brokenMac } from "./creation.ts";
import { noted, occupied, stays } from "./lifecycle.ts";
import type { InstanceMessage, NicPlace } from "./messages.ts";
import { addressesOf, exhausted, releaseAddress } from "./resources.ts";
import type { InstanceState, NicRow, On } from "./state.ts";
import { nicView } from "./view.ts";

type Msg<T extends InstanceMessage["type"]> = Of<InstanceMessage, T>;
type Family = "v4" | "v6";

/** Refuses to add or remove a NIC of an instance that is not stopped. */
export function notStopped(s: InstanceState, m: Msg<"create_nic"> | Msg<"delete_nic">): Out<InstanceState> {
  const misnamed = m.type === "create_nic" ? nameFault(m.nic.name) : null;
  return refuse(
    misnamed ?? occupied(s) ??
      conflict(`${s.name} is ${s.state}; NICs can be added and removed only while it is stopped`),
  );
}

export function createNic(s: On<"stopped">, m: Msg<"create_nic">, now: Date): Out<InstanceState> {
  const { nic, place, token } = m;
  const wrong = nameFault(nic.name) ?? labelsFault(nic.labels ?? {}) ?? brokenMac(nic.mac) ?? occupied(s) ?? full(s);
  if (wrong !== null) return refuse(wrong);
  const ipv4 = taken(place, "v4", nic.primary_ipv4, token);
  if (ipv4 !== null && isFault(ipv4)) return refuse(ipv4);
  const ipv6 = taken(place, "v6", nic.primary_ipv6, token);
  if (ipv6 !== null && isFault(ipv6)) return refuse(ipv6);
  const row: NicRow = {
    id: nic.id,
    tenant_id: s.tenant_id,
    project_id: s.project_id,
    instance_id: s.id,
    vpc_id: place.vpc_id,
    subnet_id: place.id,
    ordinal: Math.max(...s.nics.map(({ ordinal }) => ordinal)) + 1,
    name: nic.name,
    mac: canonicalMac(nic.mac),
    primary_ipv4: ipv4 === null ? null : ipv4.token,
    primary_ipv6: ipv6 === null ? null : ipv6.token,
    additional_ips: [],
    allowed_cidrs: [],
    labels: nic.labels ?? {},
    created_at: toRfc3339(now),
  };
  const lists = listsOf(row, m.nic, place, token);
  if (isFault(lists)) return refuse(lists);
  const next = { ...row, ...lists.row };
  return go(
    { ...s, updated_at: now },
    stays(s.id),
    lock(lockKey("vpc", place.vpc_id), lists.row.allowed_cidrs.length === 0),
    countedLock(subnetLock(place.id)),
    ...lists.conditions,
    ...[ipv4, ipv6].flatMap((each) => each === null ? [] : [each.condition]),
    insert("nic", next),
    vpcChanged(next),
    noted(s, "nic_create", { nic_id: nic.id, name: nic.name, subnet_id: place.id, ...lists.row }),
    reply(viewOf(next)),
  );
}

export function updateNic(s: InstanceState, m: Msg<"update_nic">, now: Date): Out<InstanceState> {
  const row = s.nics.find(({ id }) => id === m.nic_id);
  if (row === undefined) return refuse(NOT_FOUND);
  const name = m.name ?? row.name;
  const labels = relabeled(row.labels, m.labels ?? null);
  const misnamed = renameFault(row.name, name);
  if (misnamed !== null) return refuse(misnamed);
  // Clients identify the primary NIC by its name.
  if (row.ordinal === 0 && name !== row.name) {
    return refuse(conflict(`${row.name} is the primary NIC, which cannot be renamed`));
  }
  if (isFault(labels)) return refuse(labels);
  const named = { ...row, name, labels };
  const noting = { nic_id: row.id, name, labels };
  // Network documents contain neither the name nor the labels, so the documents do not change.
  if (m.additional_ips === null && m.allowed_cidrs === null) {
    return go(
      { ...s, updated_at: now },
      upsert("nic", ["id"], named),
      noted(s, "nic_update", noting),
      reply(viewOf(named)),
    );
  }
  const busy = occupied(s);
  if (busy !== null) return refuse(busy);
  if (s.state !== "running" && s.state !== "stopped" && s.state !== "failed") {
    return refuse(conflict(`${s.name} is ${s.state}; its NICs can change only while it is running, stopped or failed`));
  }
  const lists = listsOf(row, m, m.place, m.token);
  if (isFault(lists)) return refuse(lists);
  const next = { ...named, ...lists.row };
  return go(
    { ...s, updated_at: now },
    stays(s.id),
    lock(lockKey("vpc", row.vpc_id), m.allowed_cidrs === null || lists.row.allowed_cidrs.length === 0),
    countedLock(subnetLock(row.subnet_id)),
    ...lists.conditions,
    upsert("nic", ["id"], next),
    vpcChanged(row),
    noted(s, "nic_update", { ...noting, ...lists.row }),
    reply(viewOf(next)),
  );
}

export function deleteNic(s: On<"stopped">, m: Msg<"delete_nic">, now: Date): Out<InstanceState> {
  const row = s.nics.find(({ id }) => id === m.nic_id);
  if (row === undefined) return refuse(NOT_FOUND);
  const busy = occupied(s);
  if (busy !== null) return refuse(busy);
  if (row.ordinal === 0) return refuse(conflict(`${row.name} is the primary NIC, which cannot be removed`));
  const used = `<WHAT> leads to NIC ${row.name}; detach or delete that first`;
  return go(
    { ...s, updated_at: now },
    stays(s.id),
    lock(lockKey("vpc", row.vpc_id)),
    guard("nic_is_unused", { nic_id: row.id }, used),
    ...addressesOf(row),
    remove("nic", { id: row.id }),
    vpcChanged(row),
    noted(s, "nic_delete", { nic_id: row.id, name: row.name, subnet_id: row.subnet_id }),
  );
}

function full({ name, nics }: InstanceState): Fault | null {
  if (nics.length <= EXTRA_NICS_MAX) return null;
  return conflict(`${name} has ${nics.length} NICs, the maximum; remove one first`);
}

function viewOf(row: NicRow) {
  return nicView({ ...row, mac: row.mac ?? "", floating_ips: [], created_at: new Date(row.created_at) });
}

/** An address that the commit allocates. The commit replaces the token with the address. */
type Taken = { readonly token: string; readonly condition: Condition };

/**
 * Takes the primary address of a family: the given address or, if none is given, the lowest free address. Null if none
 * is given and the subnet has no block of the family.
 */
function taken(place: NicPlace, family: Family, given: string | null, token: string): Taken | Fault | null {
  if (given !== null) {
    // parseIp reads an IPv4-mapped IPv6 address (::ffff:a.b.c.d) as IPv4, so the family is checked here.
    if (parseIp(given)?.family !== (family === "v4" ? 4 : 6)) return notIn(place, given);
    const offset = offsetIn(place, given);
    if (typeof offset !== "number") return offset;
    return { token: `${token}:${family}`, condition: takeAddress(place, given, `${token}:${family}`, offset) };
  }
  if (blockOf(place, family) === null) return null;
  const condition = allocate(subnetPool(place.id, family), `${token}:${family}`, exhausted(place.id, family));
  return { token: `${token}:${family}`, condition };
}

function takeAddress({ id }: NicPlace, address: string, token: string, offset: number): Condition {
  const refusal = conflict(`${address} of subnet ${id} is in use or reserved`);
  return allocate(subnetPool(id, address.includes(":") ? "v6" : "v4"), token, refusal, { low: offset, high: offset });
}

const notIn = ({ id }: NicPlace, text: string) => badRequest(`${text} is not an address of subnet ${id}`);

function blockOf({ ipv4_block, ipv6_block }: Blocks, family: Family) {
  const text = family === "v4" ? ipv4_block : ipv6_block;
  return text === null ? null : parseBlock(text);
}

/**
 * Returns the position of an address in its subnet. Returns a 400 if the address is not in the subnet, or not in the
 * part of the subnet that Berth assigns (subnet/blocks.ts).
 */
function offsetIn(place: NicPlace, text: string): number | Fault {
  const ip = parseIp(text);
  const block = ip === null ? null : blockOf(place, ip.family === 4 ? "v4" : "v6");
  if (ip === null || block === null || !inCidr(ip, block)) {
    return notIn(place, text);
  }
  const offset = ip.value - block.network;
  if (offset > BigInt(POOL_OFFSET_MAX)) {
    return badRequest(
      `${text} is beyond the first 2^53 addresses of subnet ${place.id}; Berth assigns only these`,
    );
  }
  return Number(offset);
}

type Lists = { readonly additional_ips: readonly string[] | null; readonly allowed_cidrs: readonly string[] | null };

/** Returns the new additional_ips and allowed_cidrs of a NIC with the conditions of the change, or the refusal. */
function listsOf(row: NicRow, { additional_ips, allowed_cidrs }: Lists, place: NicPlace, token: string) {
  const present = row.additional_ips.map(canonicalAddress);
  const wanted = [...new Set((additional_ips ?? row.additional_ips).map(canonicalAddress))];
  const conditions: Condition[] = [];
  for (const address of wanted.filter((each) => !present.includes(each))) {
    const lacks = familyFault(row, address);
    const offset = offsetIn(place, address);
    if (typeof offset !== "number") return offset;
    if (lacks !== null) return lacks;
    conditions.push(takeAddress(place, address, `${token}:${address}`, offset));
  }
  const left = present.filter((each) => !wanted.includes(each));
  conditions.push(...left.map((address) => releaseAddress(row.subnet_id, address)));
  const blocks = allowedBlocks(row, allowed_cidrs ?? row.allowed_cidrs, place.vpc);
  if (isFault(blocks)) return blocks;
  if (allowed_cidrs !== null && blocks.length > 0) {
    const args = { vpc_id: row.vpc_id, nic_id: row.id, blocks };
    conditions.push(guard("nic_blocks_are_apart", args, "allowed_cidrs overlap <WHAT> in the same vpc"));
  }
  return { row: { additional_ips: wanted, allowed_cidrs: blocks }, conditions };
}

function canonicalAddress(text: string): string {
  const ip = parseIp(text);
  return ip === null ? text : formatIp(ip);
}

/**
 * Returns the allowed blocks in canonical form. Returns a 400 if a text is not a block, if a block is outside the VPC,
 * or if the NIC has no primary address of the block's family.
 */
function allowedBlocks(row: NicRow, given: readonly string[], vpc: Blocks): readonly string[] | Fault {
  const blocks: string[] = [];
  for (const text of given) {
    const block = parseBlock(text);
    if (block === null) return badRequest(`allowed_cidrs: ${text} ${NOT_A_BLOCK}`);
    const outer = blockOf(vpc, block.family === 4 ? "v4" : "v6");
    if (outer === null || !containsBlock(outer, block)) {
      return badRequest(`allowed_cidrs: ${blockText(block)} is not inside a block of the vpc`);
    }
    const lacks = familyFault(row, blockText(block));
    if (lacks !== null) return lacks;
    blocks.push(blockText(block));
  }
  return [...new Set(blocks)];
}

/**
 * Returns the 400 if the NIC has no primary address of the family of `text`. The router reaches `text` through the
 * primary address.
 */
function familyFault({ primary_ipv4, primary_ipv6 }: NicRow, text: string): Fault | null {
  const [primary, family] = text.includes(":") ? [primary_ipv6, "IPv6"] : [primary_ipv4, "IPv4"];
  return primary === null ? badRequest(`${text} needs a NIC with an ${family} address`) : null;
}
