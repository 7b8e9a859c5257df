// The client's address. Any client can send X-Forwarded-For, and each proxy appends to it. So it is read from the right, and
// only the part that our own proxies wrote. The rest is the client's claim and is ignored. docs/reliability.md S-35.
import { type Cidr, formatIp, inCidr, type Ip, networkOf, parseIp } from "./ip-address.ts";

/** Replaces an unreadable address: never trusted, never loopback, one bucket for all. */
const UNKNOWN_ADDRESS = "unknown";

const IPV6_BUCKET_PREFIX = 64;

/** The zone of a link-local address: %eth0. */
const ZONE = /%[\w.-]+$/;

/**
 * Returns the rightmost hop that is not one of our proxies, in canonical text (IPv4-mapped IPv6 as IPv4). A malformed hop
 * ends the search at the last valid hop.
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

/** Whether an address is in one of the blocks. An unreadable address is in no block. */
export function isOneOf(address: string, blocks: readonly Cidr[]): boolean {
  const ip = parseIp(address.replace(ZONE, ""));
  return ip !== null && blocks.some((cidr) => inCidr(ip, cidr));
}

/** Returns the rate limit's bucket of an address: an IPv4 address itself, the /64 of an IPv6 address. */
export function addressBucket(address: string): string {
  const ip = parseIp(address);
  if (ip === null) return UNKNOWN_ADDRESS;
  if (ip.family === 4) return formatIp(ip);
  return `${formatIp({ family: 6, value: networkOf(ip, IPV6_BUCKET_PREFIX) })}/${IPV6_BUCKET_PREFIX}`;
}

/** Whether an address is this machine: 127.0.0.0/8 or ::1. */
export function isLoopback(address: string): boolean {
  const ip = parseIp(address);
  return ip !== null && (ip.family === 4 ? ip.value >> 24n === 127n : ip.value === 1n);
}
