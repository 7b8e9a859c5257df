// Who is at the other end. X-Forwarded-For is a list that anyone may start and each proxy appends to, so it is read from
// the right and only as far as our own proxies wrote it. Everything further left is the caller's own claim, and is
// ignored. Reliability rule S-35.
import { type Cidr, formatIp, inCidr, type Ip, networkOf, parseIp } from "./ip-address.ts";

/** What an address that cannot be read counts as: never trusted, never loopback, one bucket for all. */
const UNKNOWN_ADDRESS = "unknown";

const IPV6_BUCKET_PREFIX = 64;

/** The zone of a link-local address: %eth0. */
const ZONE = /%[\w.-]+$/;

/**
 * The rightmost hop that is not one of our proxies, in canonical text (IPv4-mapped IPv6 as IPv4).
 * A malformed hop ends the walk at the last good one.
 * @param peer the other end of the TCP connection; a zone (%eth0) is dropped
 * @param forwardedFor the whole X-Forwarded-For value, or nothing
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

/** Whether an address is in one of the blocks; one that cannot be read is in none. */
export function isOneOf(address: string, blocks: readonly Cidr[]): boolean {
  const ip = parseIp(address.replace(ZONE, ""));
  return ip !== null && blocks.some((cidr) => inCidr(ip, cidr));
}

/** Whose quota an address draws on: an IPv4 address its own, an IPv6 address that of its /64. */
export function addressBucket(address: string): string {
  const ip = parseIp(address);
  if (ip === null) return UNKNOWN_ADDRESS;
  if (ip.family === 4) return formatIp(ip);
  return `${formatIp({ family: 6, value: networkOf(ip, IPV6_BUCKET_PREFIX) })}/${IPV6_BUCKET_PREFIX}`;
}

/** Whether an address is this machine itself: 127.0.0.0/8 or ::1. */
export function isLoopback(address: string): boolean {
  const ip = parseIp(address);
  return ip !== null && (ip.family === 4 ? ip.value >> 24n === 127n : ip.value === 1n);
}
