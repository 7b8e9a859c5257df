// Converts the networks of the boot policy to the forms that boot records and the address pool use, and selects the
// network of a machine.
import type { PoolRange, PoolSpan } from "../../actors/boot-policy/transition.ts";
import type { Segment } from "../../actors/boot-record/messages.ts";
import type { AdminNetwork, BootPolicy } from "../contract/boot.ts";
import { inCidr, parseCidr, parseIp } from "../lib/net/ip-address.ts";
import { type Ipv4Range, parseIpv4Range } from "../lib/net/ipv4-range.ts";

type Networks = Pick<BootPolicy, "admin_network" | "rack_networks">;
type Parsed = { readonly range: Ipv4Range } | { readonly error: string };

/**
 * If the policy has racks, all offsets of the pool are counted from this address, so that one pool holds all networks.
 */
const COMMON_BASE = "0.0.0.0";
/** The empty range, for a network that is not set. */
const NO_RANGE: PoolRange = { low: 0, high: -1, except: [] };

/** Returns the ranges of addresses to assign, or the text of a 400. Without a network the range is empty. */
export function spanOf({ admin_network, rack_networks }: Networks): { readonly span: PoolSpan } | {
  readonly error: string;
} {
  const ranges: Ipv4Range[] = [];
  const named = [
    ...(admin_network === null ? [] : [["admin_network", admin_network] as const]),
    ...rack_networks.map((rack, at) => [`rack_networks[${at}]`, rack] as const),
  ];
  for (const [field, network] of named) {
    const parsed: Parsed = parseIpv4Range(network);
    if ("error" in parsed) return { error: `${field}.${parsed.error}` };
    const other = ranges.findIndex((range) => overlap(range.block, parsed.range.block));
    if (other >= 0) return { error: `${field}.ipv4_block overlaps ${named[other]![0]}.ipv4_block` };
    ranges.push(parsed.range);
  }
  const repeated = repeatedOf(rack_networks);
  if (repeated !== null) return { error: repeated };
  if (rack_networks.length === 0) {
    const [range] = ranges;
    if (range === undefined) return { span: { network: null, ...NO_RANGE, more: [] } };
    return {
      span: { network: range.block.split("/")[0]!, ...rangeFrom(range, parseCidr(range.block)!.network), more: [] },
    };
  }
  const [first = NO_RANGE, ...more] = ranges.map((range) => rangeFrom(range, 0n));
  return { span: { network: COMMON_BASE, ...first, more } };
}

/** Returns the text of a 400 if two racks have the same name or the same relay. */
function repeatedOf(racks: Networks["rack_networks"]): string | null {
  const names = new Set<string>();
  const relays = new Set<string>();
  for (const [at, rack] of racks.entries()) {
    if (names.has(rack.name)) return `rack_networks[${at}].name: another rack has the name ${rack.name}`;
    names.add(rack.name);
    for (const relay of rack.relays) {
      if (relays.has(relay)) return `rack_networks[${at}].relays: another rack has the relay ${relay}`;
      relays.add(relay);
    }
  }
  return null;
}

function overlap(one: string, other: string): boolean {
  const [a, b] = [parseCidr(one)!, parseCidr(other)!];
  return inCidr({ family: 4, value: a.network }, b) || inCidr({ family: 4, value: b.network }, a);
}

function rangeFrom({ start, end, gateway }: Ipv4Range, base: bigint): PoolRange {
  return {
    low: Number(start - base),
    high: Number(end - base),
    except: gateway === null ? [] : [Number(gateway - base)],
  };
}

/**
 * Returns the network settings of a boot record, without its address. The relay selects the network of a rack: of the
 * rack that lists the relay, or else of the rack whose block contains the relay. All other machines are in the admin
 * network; for these machines, returns null if no admin network is set.
 * @param relay the address of the relay that forwarded the machine's request; null without a relay
 */
export function segmentOf({ admin_network, rack_networks }: Networks, relay: string | null): Segment | null {
  const from = relay === null ? null : parseIp(relay);
  const rack = from === null
    ? undefined
    : rack_networks.find(({ relays }) => relay !== null && relays.includes(relay)) ??
      rack_networks.find(({ ipv4_block }) => inCidr(from, parseCidr(ipv4_block)!));
  const network = rack ?? admin_network;
  if (network === null) return null;
  const prefix_len = parseCidr(network.ipv4_block)?.prefix ?? 32;
  const { gateway, vlan_id, resolvers } = network;
  const tagged = vlan_id === undefined ? {} : { vlan_id };
  return {
    prefix_len,
    gateway,
    ...tagged,
    resolvers,
    ...(rack_networks.length === 0 ? {} : { within: withinOf(network) }),
  };
}

/** The offsets of a network's range from the common base. The policy was checked when it was stored. */
function withinOf({ provision_start_ipv4, provision_end_ipv4 }: AdminNetwork) {
  return { low: Number(parseIp(provision_start_ipv4)!.value), high: Number(parseIp(provision_end_ipv4)!.value) };
}
