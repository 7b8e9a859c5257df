// Determines the client's address. Any client can send X-Forwarded-For, and each proxy appends to this header.
// Therefore this file reads the header from the right, and uses only the part that our own proxies wrote. The client
// may have forged the rest (docs/reliability.md, S-35).
import { type Cidr, formatIp, inCidr, type Ip, networkOf, parseIp } from "./ip-address.ts";

/**
 * The text that replaces an address that cannot be parsed. This text is never trusted and never counts as a loopback
 * address. All clients with this text share one rate limit.
 */
const UNKNOWN_ADDRESS = "unknown";

const IPV6_BUCKET_PREFIX = 64;

/** The zone of a link-local address, such as %eth0. */
const ZONE = /%[\w.-]+$/;

/**
 * Reads the hops from the right, beginning with `peer`. Returns the first hop that is not one of our proxies. Addresses
 * are in canonical text (IPv4-mapped IPv6 as IPv4). If a hop is malformed or all hops are proxies, returns the last
 * valid hop that was read. Returns `unknown` if `peer` is not an address.
 * @param peer the other end of the TCP connection; a zone (%eth0) is dropped
 * @param forwardedFor the whole X-Forwarded-For value, if any
 * @param trusted the configured proxies
 */
export function clientAddress(from: {
  peer: string | null | undefined;
  forwardedFor: string | null | undefined;
  trusted: readonly Cidr[];
}): string {
  const peer = parseIp((from.peer ?? "").replace(ZONE, ""));
  if (peer === null) return UNKNOWN_ADDRESS;
  const isTrusted = (ip: Ip) => from.trusted.some((cidr) => inCidr(ip, cidr));
  let client = peer;
  const hops = (from.forwardedFor ?? "").split(",");
  while (hops.length > 0 && isTrusted(client)) {
    const hop = parseIp(hops.pop()!.replace(/^[ \t]+|[ \t]+$/g, ""));
    if (hop === null) break;
    client = hop;
  }
  return formatIp(client);
}

/** Returns whether an address is in one of the blocks; false for an address that cannot be parsed. */
export function isOneOf(address: string, blocks: readonly Cidr[]): boolean {
  const ip = parseIp(address.replace(ZONE, ""));
  return ip !== null && blocks.some((cidr) => inCidr(ip, cidr));
}

/**
 * Returns the name of an address's rate limit bucket: an IPv4 address itself, the /64 of an IPv6 address, or `unknown`
 * for any other text.
 */
export function addressBucket(address: string): string {
  const ip = parseIp(address);
  if (ip === null) return UNKNOWN_ADDRESS;
  if (ip.family === 4) return formatIp(ip);
  return `${formatIp({ family: 6, value: networkOf(ip, IPV6_BUCKET_PREFIX) })}/${IPV6_BUCKET_PREFIX}`;
}

/** Returns whether an address is a loopback address: 127.0.0.0/8 or ::1. */
export function isLoopback(address: string): boolean {
  const ip = parseIp(address);
  return ip !== null && (ip.family === 4 ? ip.value >> 24n === 127n : ip.value === 1n);
}
