// Recognizes public IP addresses: unicast addresses that are globally reachable according to IANA's special-purpose
// registries for IPv4 and IPv6. URLs from tenants and other servers are fetched only from public addresses and from
// ranges that the operator allows (docs/reliability.md, S-25 and S-47).
import { type Cidr, inCidr, type Ip, parseCidr, parseIp } from "./ip-address.ts";

const cidrs = (...texts: readonly string[]): readonly Cidr[] => texts.map((text) => parseCidr(text)!);

const NOT_PUBLIC = cidrs(
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private use
  "100.64.0.0/10", // carrier-grade NAT
  "127.0.0.0/8", // loopback
  "169.254.0.0/16", // link-local, metadata services
  "172.16.0.0/12", // private use
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // relays of 6to4
  "192.168.0.0/16", // private use
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/3", // multicast, reserved, broadcast
  "2001::/23", // protocol assignments: Teredo, benchmarks, ORCHID
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4: contains an IPv4 address
  "3fff::/20", // documentation
);
/**
 * IPv6's only range for global unicast. It excludes ::, ::1, fc00::/7, fe80::/10, fec0::/10, ff00::/8 and other ranges.
 */
const GLOBAL_IPV6 = cidrs("2000::/3")[0]!;
/** NAT64's range (RFC 6052). An address in this range is public if the IPv4 address in its last 32 bits is public. */
const NAT64 = cidrs("64:ff9b::/96")[0]!;

/** Returns whether the address is globally reachable unicast. */
export function isPublicIp(ip: Ip): boolean {
  if (inCidr(ip, NAT64)) return isPublicIp({ family: 4, value: ip.value & 0xffffffffn });
  if (ip.family === 6 && !inCidr(ip, GLOBAL_IPV6)) return false;
  return !NOT_PUBLIC.some((cidr) => inCidr(ip, cidr));
}

/** Returns whether a text is a public address; false for any other text, such as an address with a zone. */
export function isPublicAddress(text: string): boolean {
  const ip = parseIp(text);
  return ip !== null && isPublicIp(ip);
}

/**
 * Returns whether a fetch of a URL that others supplied may connect to this address. The address must be public, or in
 * a range that the operator allows.
 */
export function mayBeFetched(text: string, allowed: readonly Cidr[]): boolean {
  const ip = parseIp(text);
  return ip !== null && (isPublicIp(ip) || allowed.some((cidr) => inCidr(ip, cidr)));
}

/**
 * Returns the address in a URL's host, or null if the host is a name. The URL parser has already converted octal,
 * hexadecimal and short forms.
 */
export function literalAddress({ hostname }: URL): string | null {
  const text = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return parseIp(text) === null ? null : text;
}

/** The rule for the host of a URL, for an error that begins with the field's name. */
export const PUBLIC_RULE =
  "must have a public address, or an address in a network that the setting fetch.allowed_private lists";

/** Names that always mean this machine (RFC 6761). */
const LOCAL_NAME = /^(?:.+\.)?localhost\.?$/i;

/**
 * Returns whether the host of a URL is localhost or an address that may not be fetched. Such a URL can be rejected
 * without resolving a name. Other names are checked when they are resolved.
 */
export function isLiterallyPrivate(url: URL, allowed: readonly Cidr[]): boolean {
  const literal = literalAddress(url);
  if (literal !== null) return !mayBeFetched(literal, allowed);
  return LOCAL_NAME.test(url.hostname) && !mayBeFetched("127.0.0.1", allowed);
}

/** Parses the ranges of the setting `fetch.allowed_private`. Skips texts that are not CIDRs. */
export function readRanges(texts: readonly unknown[]): Cidr[] {
  return texts.flatMap((text) => (typeof text === "string" ? parseCidr(text) ?? [] : []));
}
