// Builds router advertisements (RFC 4861) for the guests of one VPC, with the default route, the MTU and the DNS
// server. They contain no prefix, so a guest forms no address of its own. Their flags tell the guest to get the address
// of its NIC by DHCPv6.
import { GATEWAY_MAC, METADATA_IPV6 } from "../names.ts";
import { addressBytes } from "./address-bytes.ts";

/** ICMPv6 types. */
export const ROUTER_SOLICITATION = 133;
const ROUTER_ADVERTISEMENT = 134;
/** Time between advertisements that no guest asked for: the default of RFC 4861, MaxRtrAdvInterval. */
export const ADVERTISEMENT_INTERVAL_MS = 600_000;
/**
 * Seconds for which a guest keeps the route and the DNS server without a new advertisement: the longest that RFC 8319
 * allows, about 18 hours. The router is the same on every node and never ends, but the node's agent may be down.
 */
const LIFETIME_S = 65_535;
const HOP_LIMIT = 64;
/** The guest gets its address, and the other settings, by DHCPv6. */
const FLAGS_MANAGED_AND_OTHER = 0xc0;
const OPTION = { link_address: 1, mtu: 5, dns: 25 } as const;

/** Returns an advertisement. The kernel fills in the checksum. */
export function routerAdvertisement(mtu: number): Uint8Array {
  return Uint8Array.from([
    ...[ROUTER_ADVERTISEMENT, 0, 0, 0, HOP_LIMIT, FLAGS_MANAGED_AND_OTHER, LIFETIME_S >> 8, LIFETIME_S & 255],
    // Reachable time and retransmission timer. Zero lets the guest use its own values.
    ...[0, 0, 0, 0, 0, 0, 0, 0],
    // The length of an option counts units of 8 bytes.
    ...[OPTION.link_address, 1, ...GATEWAY_MAC.split(":").map((part) => parseInt(part, 16))],
    ...[OPTION.mtu, 1, 0, 0, 0, 0, mtu >> 8, mtu & 255],
    ...[OPTION.dns, 3, 0, 0, 0, 0, LIFETIME_S >> 8, LIFETIME_S & 255, ...addressBytes(METADATA_IPV6)],
  ]);
}
