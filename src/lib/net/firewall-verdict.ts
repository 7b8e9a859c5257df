// Decides what the firewall of a VPC does with the first packet of a connection. The kernel decides by the nftables
// rules of nodeagent/network/firewall.ts. A property test compares both decisions with a model.
import type { PacketProtocol } from "../../contract/enums.ts";
import type { DocumentRule, NetworkDocument } from "../../contract/network-document.ts";
import { inCidr, type Ip, parseCidr, parseIp } from "./ip-address.ts";

/** The first packet of a connection, with the addresses that the firewall sees. */
export type Packet = {
  readonly source: string;
  readonly destination: string;
  /** The kernel's name of the protocol: `tcp`, `udp`, `icmp`, `ipv6-icmp` or another. */
  readonly protocol: string;
  /** Null if the protocol has no ports, or if the ports are unknown. */
  readonly ports: { readonly source: number; readonly destination: number } | null;
  /** Null unless the protocol is ICMP. */
  readonly icmp: { readonly type: number; readonly code: number } | null;
};

/** The parts of a first packet that a request contains. */
export type PacketQuery = Pick<Packet, "source" | "destination"> & {
  readonly protocol: PacketProtocol;
  /** Null means a port that clients use. Ignored without a destination port. */
  readonly source_port?: number | null;
  readonly destination_port: number | null;
  /** Null means an echo request. Ignored unless the protocol is ICMP. */
  readonly icmp?: Packet["icmp"];
};

/** A source port in the range that clients use. A rule for source ports may decide differently for other ports. */
const CLIENT_PORT = 50_000;
/** The type of an echo request (RFC 792, RFC 4443). */
const ECHO_REQUEST = { icmp4: 8, icmp6: 128 } as const;

/** Returns the first packet of a connection. Without a destination port, only rules without ports match the packet. */
export function firstPacket(query: PacketQuery): Packet {
  const { protocol, source, destination, source_port, destination_port, icmp } = query;
  const addresses = { source, destination };
  switch (protocol) {
    case "tcp":
    case "udp": {
      const ports = destination_port === null
        ? null
        : { source: source_port ?? CLIENT_PORT, destination: destination_port };
      return { ...addresses, protocol, ports, icmp: null };
    }
    case "icmp4":
    case "icmp6":
      return {
        ...addresses,
        protocol: protocol === "icmp4" ? "icmp" : "ipv6-icmp",
        ports: null,
        icmp: icmp ?? { type: ECHO_REQUEST[protocol], code: 0 },
      };
  }
}

/** The decision of the firewall about a packet. */
export type FirewallVerdict = {
  readonly is_allowed: boolean;
  /** The rule that decided; null if no rule matches. */
  readonly rule_id: string | null;
};

type Firewall = {
  readonly firewall_rules: readonly DocumentRule[];
  readonly blocks: NetworkDocument["blocks"];
};

/** Returns a function that decides for packets of one direction. The rules are parsed once. */
export function firewallOf(
  { firewall_rules, blocks }: Firewall,
  direction: DocumentRule["direction"],
): (packet: Packet) => FirewallVerdict {
  const rules = orderedRules(firewall_rules, direction).map((rule) => ({ rule, matches: matcherOf(rule) }));
  const own = blocks.map((block) => inBlock(block));
  return (packet) => {
    const [source, destination] = [parseIp(packet.source), parseIp(packet.destination)];
    if (source === null || destination === null) return { is_allowed: false, rule_id: null };
    const deciding = rules.find(({ matches }) => matches(packet, source, destination));
    if (deciding !== undefined) return { is_allowed: deciding.rule.action === "allow", rule_id: deciding.rule.rule_id };
    // Without a matching rule every packet may leave, and only packets from the VPC's own blocks enter.
    return { is_allowed: direction === "outbound" || own.some((contains) => contains(source)), rule_id: null };
  };
}

function matcherOf(rule: DocumentRule): (packet: Packet, source: Ip, destination: Ip) => boolean {
  const isSource = inBlock(rule.source_cidr);
  const isDestination = inBlock(rule.destination_cidr);
  return (packet, source, destination) =>
    isOfProtocol(rule, packet, source.family) && isSource(source) && isDestination(destination) &&
    inRange(packet.ports?.source, rule.source_ports) && inRange(packet.ports?.destination, rule.destination_ports) &&
    isOfType(rule.icmp_type_code, packet.icmp);
}

/** Returns a function that returns whether an address is in the block. A null block contains every address. */
function inBlock(block: string | null): (ip: Ip) => boolean {
  const cidr = block === null ? null : parseCidr(block);
  return (ip) => block === null || (cidr !== null && inCidr(ip, cidr));
}

function isOfProtocol({ protocol }: DocumentRule, packet: Packet, family: Ip["family"]): boolean {
  switch (protocol) {
    case "any":
      return true;
    case "tcp":
    case "udp":
      return packet.protocol === protocol;
    case "icmp4":
      return packet.protocol === "icmp" && family === 4;
    case "icmp6":
      return packet.protocol === "ipv6-icmp" && family === 6;
  }
}

function inRange(port: number | undefined, range: DocumentRule["source_ports"]): boolean {
  return range === null || (port !== undefined && port >= range.low && port <= range.high);
}

function isOfType(wanted: DocumentRule["icmp_type_code"], icmp: Packet["icmp"]): boolean {
  return wanted === null || (icmp !== null && icmp.type === wanted.type && icmp.code === wanted.code);
}

/**
 * Returns the rules of one direction in the order of their evaluation: higher priority first, then deny before allow.
 * Leaves out the rules that cannot match any packet.
 */
export function orderedRules(
  rules: readonly DocumentRule[],
  direction: DocumentRule["direction"],
): readonly DocumentRule[] {
  return rules
    .filter((rule) => rule.direction === direction && canMatch(rule))
    .toSorted((a, b) => b.priority - a.priority || rank(a) - rank(b));
}

/**
 * Returns false for a rule whose networks and protocol are of different families. Such a rule matches no packet, and
 * nft refuses it.
 */
function canMatch({ protocol, source_cidr, destination_cidr }: DocumentRule): boolean {
  const families = new Set([source_cidr, destination_cidr].filter((cidr) => cidr !== null).map(familyOf));
  if (protocol === "icmp4") families.add(4);
  if (protocol === "icmp6") families.add(6);
  return families.size < 2;
}

function rank({ action }: DocumentRule): number {
  return action === "deny" ? 0 : 1;
}

function familyOf(cidr: string): Ip["family"] {
  return cidr.includes(":") ? 6 : 4;
}
