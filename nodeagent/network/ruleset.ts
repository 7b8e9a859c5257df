// The nftables ruleset of a VPC's router namespace, as one text for `nft -f`: the kernel applies all of it or nothing.
// Table `netdev berth` filters what a NIC sends: its own addresses only. Table `inet berth` has the firewall, the
// translation of public addresses, and the few services that the router itself answers.
import type { LocalNic, NetworkDocument } from "../../src/contract/network-document.ts";
import { ruleLines } from "./firewall.ts";
import { EXTERNAL_DEVICE, METADATA_IPV4, OVERLAY_DEVICE, tapName } from "./names.ts";

/** User ids of QEMU processes. A QEMU that a guest has broken out of must not send from the router. */
const VM_UIDS = "200000-299999";
/** Echo requests that a router answers its guests, per second. */
const ECHO_PER_SECOND = 50;
/** Bits of the DHCP header before the client's hardware address, counted from the UDP header: 8 + 28 bytes. */
const DHCP_MAC_OFFSET_BITS = 288;

const IPV4_MULTICAST = "224.0.0.0/4";

/**
 * Returns the ruleset.
 * @param taps names of the taps that exist; a chain on a missing device would make nft refuse the whole ruleset
 */
export function rulesetOf(document: NetworkDocument, taps: ReadonlySet<string>): string {
  const nics = document.local_nics.filter(({ mac }) => taps.has(tapName(mac)));
  return [
    ...replaced("netdev berth", nics.flatMap(sourceChain)),
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
      ...INPUT,
      ...OUTPUT,
      ...translation(document, nics),
    ]),
    "",
  ].join("\n");
}

/** Replaces a table in one transaction. The first line makes the deletion valid when there is no such table. */
function replaced(table: string, lines: readonly string[]): string[] {
  return [`table ${table}`, `delete table ${table}`, `table ${table} {`, ...lines.map((line) => `  ${line}`), "}"];
}

function chain(name: string, rules: readonly string[]): string[] {
  return [`chain ${name} {`, ...rules.map((rule) => `  ${rule}`), "}"];
}

function base(name: string, hook: string, rules: readonly string[]): string[] {
  return chain(name, [`type ${hook};`, ...rules]);
}

/** Returns the filter of a NIC. It accepts ARP, DHCP requests, and packets from the NIC's own addresses. */
function sourceChain({ mac, ipv4, ipv6 }: LocalNic): string[] {
  const tap = tapName(mac);
  return base(tap, `filter hook ingress device "${tap}" priority 0; policy drop`, [
    `ether saddr != ${mac} counter drop`,
    ...(ipv4 === null ? [] : [
      `ether type arp arp operation { request, reply } arp saddr ether ${mac} arp saddr ip { ${ipv4}, 0.0.0.0 } accept`,
      "ether type ip ip saddr 0.0.0.0 ip daddr 255.255.255.255 udp sport 68 udp dport 67 " +
      `@th,${DHCP_MAC_OFFSET_BITS},48 0x${mac.replaceAll(":", "")} accept`,
      // A guest must not answer as a DHCP server.
      "ether type ip udp sport 67 counter drop",
      `ether type ip ip saddr ${ipv4} ip daddr != ${IPV4_MULTICAST} ip daddr != 255.255.255.255 accept`,
    ]),
    ...(ipv6 === null ? [] : [
      // A guest must not announce itself as a router, or answer as a DHCPv6 server.
      "ether type ip6 icmpv6 type { nd-router-advert, nd-redirect } counter drop",
      "ether type ip6 udp sport 547 counter drop",
      `ether type ip6 ip6 saddr { ${ipv6}, fe80::/64, :: } accept`,
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
    "tcp flags syn tcp option maxseg size set rt mtu",
    "ct state established,related accept",
    "ct state invalid counter drop",
    // Each metadata service is for the guests of its own router.
    "iifname @taps ip daddr 169.254.0.0/16 counter drop",
    ...nics.flatMap(({ mac, connections_max }) =>
      connections_max === null
        ? []
        : [`iifname "${tapName(mac)}" ct state new ct count over ${connections_max} counter drop`]
    ),
    "iifname @taps jump rules_out",
    "oifname @taps jump rules_in",
    "iifname @taps accept",
    "oifname @taps accept",
    `iifname "${OVERLAY_DEVICE}" oifname "${EXTERNAL_DEVICE}" accept`,
    "counter drop",
  ]);
}

const INPUT = base("input", "filter hook input priority filter; policy drop", [
  'iifname "lo" accept',
  "ct state established,related accept",
  "iifname @taps udp sport 68 udp dport 67 accept",
  `iifname @taps ip daddr ${METADATA_IPV4} tcp dport 80 accept`,
  `iifname @taps icmp type echo-request limit rate ${ECHO_PER_SECOND}/second accept`,
  "iifname @taps icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, nd-router-solicit, echo-request } accept",
  `iifname "${EXTERNAL_DEVICE}" icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept`,
  "counter drop",
]);

const OUTPUT = base("output", "filter hook output priority filter; policy accept", [
  `meta skuid ${VM_UIDS} counter drop`,
]);

/** Translates floating IPs in both directions, and what leaves through a NAT gateway of this node. */
function translation({ blocks, nat_gateways }: NetworkDocument, nics: readonly LocalNic[]): string[] {
  const bound = nics.flatMap(({ floating_ips, ipv4, ipv6 }) =>
    floating_ips.map((outer) => ({ outer, inner: familyOf(outer) === "ip" ? ipv4 : ipv6 }))
  );
  const families = (["ip", "ip6"] as const).map((family) => ({
    family,
    pairs: bound.filter(({ outer }) => familyOf(outer) === family),
    own: blocks.filter((block) => familyOf(block) === family),
    gateway: nat_gateways.find(({ public_address }) => familyOf(public_address) === family),
  }));
  const map = (pairs: readonly (readonly [string, string | null])[]) =>
    `map { ${pairs.map(([from, to]) => `${from} : ${to}`).join(", ")} }`;
  return [
    ...base(
      "translate_in",
      "nat hook prerouting priority dstnat",
      families.flatMap(({ family, pairs }) =>
        pairs.length === 0
          ? []
          : [`dnat ${family} to ${family} daddr ${map(pairs.map(({ outer, inner }) => [outer, inner]))}`]
      ),
    ),
    ...base(
      "translate_out",
      "nat hook postrouting priority srcnat",
      families.flatMap(
        ({ family, pairs, own, gateway }) => [
          ...(pairs.length === 0 ? [] : [
            `oifname "${EXTERNAL_DEVICE}" snat ${family} to ${family} saddr ` +
            map(pairs.map(({ outer, inner }) => [inner ?? "", outer])),
          ]),
          ...(gateway === undefined || own.length === 0 ? [] : [
            `oifname "${EXTERNAL_DEVICE}" ${family} saddr { ${own.join(", ")} } ` +
            `snat ${family} to ${gateway.public_address}`,
          ]),
        ],
      ),
    ),
  ];
}

function familyOf(address: string): "ip" | "ip6" {
  return address.includes(":") ? "ip6" : "ip";
}
