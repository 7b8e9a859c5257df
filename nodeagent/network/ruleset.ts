// Writes the nftables ruleset of a VPC's router namespace, as one text for `nft -f`: the kernel applies all of it or
// nothing. Table `netdev berth` drops packets with a source address that the NIC may not use, and packets above the
// NIC's limits. Table `inet berth` has the firewall, the translation of public addresses, and the few services that the
// router itself answers.
import type { LocalNic, NetworkDocument } from "../../src/contract/network-document.ts";
import { ruleLines } from "./firewall.ts";
import { EXTERNAL_DEVICE, GATEWAY_IPV6, METADATA_IPV4, METADATA_IPV6, OVERLAY_DEVICE, tapName } from "./names.ts";
import { connectionLimit, rateLimits } from "./nic-limits.ts";
import { base, chain, familyOf } from "./ruleset-text.ts";
import { translation } from "./translation.ts";

/** User ids of QEMU processes. A QEMU that its guest has taken over must not send from the router's namespace. */
const VM_UIDS = "200000-299999";
/**
 * Echo requests of each family that a router answers per second, for all its guests together. Further requests of a
 * sender with the same identifier belong to an established connection, to which this limit does not apply.
 */
export const ECHO_PER_SECOND = 50;
/**
 * Maximum number of TCP connections of a NIC to the services of its router, DNS and metadata. A guest with an ordinary
 * resolver has one or two (RFC 7766). Above the limit, the guest's kernel repeats its request until a connection ends.
 */
const NIC_CONNECTIONS_MAX = 64;
/**
 * Maximum number of TCP connections of all guests of one router to the router's services. One process serves the
 * routers of all VPCs, and each connection is an open file of the process.
 */
export const ROUTER_CONNECTIONS_MAX = 512;
/** Bits of the DHCP header before the client's hardware address, counted from the UDP header: 8 + 28 bytes. */
const DHCP_MAC_OFFSET_BITS = 288;
/**
 * The destination address of the packet inside an ICMPv4 error, after the ICMP header (8 bytes) and 16 bytes of the
 * packet.
 */
const ERROR_DESTINATION = "@th,192,32";
/** The code of the ICMPv4 error "fragmentation needed". nft 0.9.8 of Debian 11 may not know its name. */
const TOO_LARGE = 4;

/**
 * The router learns at most LINK_LOCALS_MAX link-local addresses from a NIC. For each family, it also learns at most
 * OF_BLOCKS_MAX addresses of the NIC's allowed blocks. All VPCs of a node share the kernel's table of neighbours
 * (neighbour-limits.ts). The router forgets an address after LEARNED_MIN minutes without packets. A guest usually has
 * one link-local address.
 */
const LINK_LOCALS_MAX = 8;
const OF_BLOCKS_MAX = 256;
const LEARNED_MIN = 10;

const IPV4_MULTICAST = "224.0.0.0/4";
/** The multicast address to which DHCPv6 clients send (RFC 8415). */
const ALL_DHCP6_SERVERS = "ff02::1:2";

/**
 * Returns the ruleset.
 * @param taps names of the taps that exist; a chain on a missing device would make nft refuse the whole ruleset
 */
export function rulesetOf(document: NetworkDocument, taps: ReadonlySet<string>): string {
  const nics = document.local_nics.filter(({ mac }) => taps.has(tapName(mac)));
  return [
    ...replaced("netdev berth", [...nics.flatMap(learnedSets), ...nics.flatMap(sourceChain)]),
    ...replaced("inet berth", [
      ...tapSet(nics),
      ...forwardChain(nics),
      ...chain("rules_out", ruleLines(document.firewall_rules, "outbound")),
      ...chain("rules_in", [
        ...ruleLines(document.firewall_rules, "inbound"),
        // Without a matching rule, only packets from the VPC's own blocks enter.
        ...document.blocks.map((block) => `${familyOf(block)} saddr ${block} return`),
        "counter drop",
      ]),
      ...inputChain(nics),
      ...OUTPUT,
      ...translation(document, nics),
      ...arrivingChain(document),
      ...LEAVING,
    ]),
    "",
  ].join("\n");
}

/** Replaces a table in one transaction. The first line makes the deletion valid when there is no such table. */
function replaced(table: string, lines: readonly string[]): string[] {
  return [`table ${table}`, `delete table ${table}`, `table ${table} {`, ...lines.map((line) => `  ${line}`), "}"];
}

/**
 * Returns the sets of the addresses that the router may learn from a NIC. If a set is full, packets from further
 * addresses do not match.
 */
function learnedSets({ mac, blocks = [] }: LocalNic): string[] {
  const set = (name: string, type: string, size: number) => [
    `set ${name}_${tapName(mac)} {`,
    ...[`  type ${type}`, `  size ${size}`, "  flags dynamic,timeout", `  timeout ${LEARNED_MIN}m`],
    "}",
  ];
  return [
    ...set("link_locals", "ipv6_addr", LINK_LOCALS_MAX),
    ...(blocks.length === 0 ? [] : [
      ...set("senders4", "ipv4_addr", OF_BLOCKS_MAX),
      ...set("senders6", "ipv6_addr", OF_BLOCKS_MAX),
    ]),
  ];
}

/**
 * Returns the filter of a NIC. It accepts ARP, DHCP requests, and packets from link-local IPv6 addresses, the NIC's own
 * addresses and its allowed blocks, up to its limits.
 */
function sourceChain(nic: LocalNic): string[] {
  const { mac, ipv4, ipv6, blocks = [] } = nic;
  const more4 = blocks.filter((block) => familyOf(block) === "ip");
  const more6 = blocks.filter((block) => familyOf(block) === "ip6");
  const tap = tapName(mac);
  return base(tap, `filter hook ingress device "${tap}" priority 0; policy drop`, [
    `ether saddr != ${mac} counter drop`,
    ...rateLimits(nic),
    ...(ipv4 === null ? [] : [
      `ether type arp arp operation { request, reply } arp saddr ether ${mac} arp saddr ip { ${ipv4}, 0.0.0.0 } accept`,
      // A DHCP client sends from 0.0.0.0, and from its own address if its lease is about to end (RFC 2131, REBINDING).
      `ether type ip ip saddr { 0.0.0.0, ${ipv4} } ip daddr 255.255.255.255 udp sport 68 udp dport 67 ` +
      `@th,${DHCP_MAC_OFFSET_BITS},48 0x${mac.replaceAll(":", "")} accept`,
      // A guest must not answer as a DHCP server.
      "ether type ip udp sport 67 counter drop",
      ...more4.map((block) =>
        `ether type arp arp operation { request, reply } arp saddr ether ${mac} arp saddr ip ${block} ` +
        `update @senders4_${tap} { arp saddr ip } accept`
      ),
      ...[ipv4, ...more4].map((from) =>
        `ether type ip ip saddr ${from} ip daddr != ${IPV4_MULTICAST} ip daddr != 255.255.255.255 accept`
      ),
    ]),
    ...(ipv6 === null ? [] : [
      // A guest must not announce itself as a router, or answer as a DHCPv6 server.
      "ether type ip6 icmpv6 type { nd-router-advert, nd-redirect } counter drop",
      "ether type ip6 udp sport 547 counter drop",
      // The router does not join the group of DHCPv6 servers, so this rule redirects a request to the router's own
      // address.
      `ether type ip6 ip6 saddr fe80::/64 ip6 daddr ${ALL_DHCP6_SERVERS} udp sport 546 udp dport 547 ` +
      `update @link_locals_${tap} { ip6 saddr } ip6 daddr set ${GATEWAY_IPV6} accept`,
      `ether type ip6 ip6 saddr { ${ipv6}, :: } accept`,
      `ether type ip6 ip6 saddr fe80::/64 update @link_locals_${tap} { ip6 saddr } accept`,
      ...more6.flatMap((block) => {
        // The router learns a source address in a block only from these two messages.
        const solicits = `ether type ip6 ip6 saddr ${block} icmpv6 type { nd-neighbor-solicit, nd-router-solicit }`;
        return [
          `${solicits} update @senders6_${tap} { ip6 saddr } accept`,
          `${solicits} counter drop`,
          `ether type ip6 ip6 saddr ${block} accept`,
        ];
      }),
    ]),
    "counter drop",
  ]);
}

function tapSet(nics: readonly LocalNic[]): string[] {
  const names = nics.map(({ mac }) => `"${tapName(mac)}"`).join(", ");
  return ["set taps {", "  type ifname", ...(names === "" ? [] : [`  elements = { ${names} }`]), "}"];
}

function forwardChain(nics: readonly LocalNic[]): string[] {
  return base("forward", "filter hook forward priority filter; policy drop", [
    ...nics.flatMap((nic) => rateLimits(nic).map((rule) => `oifname "${tapName(nic.mac)}" ${rule}`)),
    "tcp flags syn tcp option maxseg size set rt mtu",
    "ct state established,related accept",
    "ct state invalid counter drop",
    // Each metadata service is for the guests of its own router.
    "iifname @taps ip daddr 169.254.0.0/16 counter drop",
    `iifname @taps ip6 daddr ${METADATA_IPV6} counter drop`,
    ...nics.flatMap((nic) =>
      connectionLimit(nic).flatMap((rule) =>
        ["iifname", "oifname"].map((side) => `${side} "${tapName(nic.mac)}" ${rule}`)
      )
    ),
    "iifname @taps jump rules_out",
    "oifname @taps jump rules_in",
    "iifname @taps accept",
    "oifname @taps accept",
    `iifname "${OVERLAY_DEVICE}" oifname "${EXTERNAL_DEVICE}" accept`,
    // Passes a port forward to a NIC of another node. The firewall of that node decides.
    `iifname "${EXTERNAL_DEVICE}" oifname "${OVERLAY_DEVICE}" ct status dnat accept`,
    "counter drop",
  ]);
}

/** Accepts packets to the router itself: requests of its guests, and neighbour discovery of the external network. */
function inputChain(nics: readonly LocalNic[]): string[] {
  const limit = (from: string, connections_max: number) =>
    `iifname ${from} tcp dport { 53, 80 } ct state new ct count over ${connections_max} counter drop`;
  return base("input", "filter hook input priority filter; policy drop", [
    'iifname "lo" accept',
    "ct state established,related accept",
    ...nics.map(({ mac }) => limit(`"${tapName(mac)}"`, NIC_CONNECTIONS_MAX)),
    limit("@taps", ROUTER_CONNECTIONS_MAX),
    "iifname @taps udp sport 68 udp dport 67 accept",
    `iifname @taps ip6 daddr ${GATEWAY_IPV6} udp sport 546 udp dport 547 accept`,
    `iifname @taps ip daddr ${METADATA_IPV4} tcp dport { 53, 80 } accept`,
    `iifname @taps ip daddr ${METADATA_IPV4} udp dport 53 accept`,
    `iifname @taps ip6 daddr ${METADATA_IPV6} tcp dport { 53, 80 } accept`,
    `iifname @taps ip6 daddr ${METADATA_IPV6} udp dport 53 accept`,
    `iifname @taps icmp type echo-request limit rate ${ECHO_PER_SECOND}/second accept`,
    `iifname @taps icmpv6 type echo-request limit rate ${ECHO_PER_SECOND}/second accept`,
    "iifname @taps icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, nd-router-solicit } accept",
    `iifname "${EXTERNAL_DEVICE}" icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept`,
    "counter drop",
  ]);
}

const OUTPUT = base("output", "filter hook output priority filter; policy accept", [
  `meta skuid ${VM_UIDS} counter drop`,
  // With a TTL of 1, metadata does not reach machines behind the guest.
  `ip saddr ${METADATA_IPV4} tcp sport 80 ip ttl set 1`,
  `ip6 saddr ${METADATA_IPV6} tcp sport 80 ip6 hoplimit set 1`,
  // An ICMP error may go to a guest of another node. The routers of all nodes have the same IPv4 addresses, so the
  // other router would drop an error that this router sends from its own address. Therefore the rule sets the error's
  // source to the destination of the packet that the error is about.
  `oifname "${OVERLAY_DEVICE}" icmp type { destination-unreachable, time-exceeded } ip saddr set ${ERROR_DESTINATION}`,
  // Hosts outside of the VPC get only the error about a packet that is too large. Other errors would reveal guests that
  // no rule allows these hosts to reach.
  `oifname "${EXTERNAL_DEVICE}" icmp type time-exceeded counter drop`,
  `oifname "${EXTERNAL_DEVICE}" icmp type destination-unreachable icmp code != ${TOO_LARGE} counter drop`,
  `oifname "${EXTERNAL_DEVICE}" icmpv6 type { destination-unreachable, time-exceeded } counter drop`,
]);

/**
 * Filters the packets of the external network before any other chain. No source may be in the VPC, because the firewall
 * trusts such sources. Each unicast destination must be an address of the external device.
 */
function arrivingChain({ blocks }: NetworkDocument): string[] {
  return base("arriving", "filter hook prerouting priority raw; policy accept", [
    ...blocks.map((block) => `iifname "${EXTERNAL_DEVICE}" ${familyOf(block)} saddr ${block} counter drop`),
    `iifname "${EXTERNAL_DEVICE}" fib daddr . iif type unicast counter drop`,
  ]);
}

/**
 * Drops packets that would leave through the external device with a source that is not an address of this device. When
 * the lease of a NAT gateway ends, its address is removed (gateway-lease.ts), but its connections are still translated.
 */
const LEAVING = base("leaving", "filter hook postrouting priority srcnat + 1; policy accept", [
  // Reports of multicast groups have the source address `::`.
  `oifname "${EXTERNAL_DEVICE}" ip6 saddr :: accept`,
  `oifname "${EXTERNAL_DEVICE}" fib saddr . oif type != local counter drop`,
]);
