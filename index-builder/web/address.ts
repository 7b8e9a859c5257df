// Which addresses this program connects to: public unicast ones only. A vendor, or whoever answers for its name, must not
// be able to point the builder at the network it runs in.
import { inCidr, type Ip, parseCidr, parseIp } from "../../src/pure/ip-address.ts";

/** IANA's special-purpose registries: not globally reachable, or a way around this list (6to4, NAT64, Teredo). */
const NOT_PUBLIC = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
].map((text) => parseCidr(text)!);
/** The only range IPv6 gives out for global unicast. */
const GLOBAL_IPV6 = parseCidr("2000::/3")!;

export function isPublicAddress(text: string): boolean {
  const ip = parseIp(text);
  return ip !== null && isGlobal(ip) && !NOT_PUBLIC.some((cidr) => inCidr(ip, cidr));
}

function isGlobal(ip: Ip): boolean {
  return ip.family === 4 || inCidr(ip, GLOBAL_IPV6);
}
