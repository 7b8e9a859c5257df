// Lists address ranges that are not globally reachable unicast (IANA's special-purpose registries, multicast,
// reserved), and spells their addresses in URLs.
import { formatIp, parseIp } from "../../src/lib/net/ip-address.ts";

export const SPECIAL_RANGES: readonly string[] = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"],
  ...["192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"],
  ...["224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32"],
  ...["::/128", "::1/128", "::/96", "64:ff9b:1::/48", "100::/64", "2001::/32", "2001:2::/48", "2001:10::/28"],
  ...["2001:20::/28", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10"],
  ...["ff00::/8", "64:ff9b::7f00:0/104", "64:ff9b::a00:0/104", "64:ff9b::a9fe:0/112", "2002:7f00::/24"],
];

/** Returns URLs of one address: each must parse as that address, or as an IPv6 address that contains it. */
export function spellings(address: string, port = 80, path = "/"): string[] {
  const ip = parseIp(address)!;
  const url = (host: string) => `http://${host}:${port}${path}`;
  if (ip.family === 6) {
    const groups = Array.from({ length: 8 }, (_, i) => ((ip.value >> BigInt(16 * (7 - i))) & 0xffffn).toString(16));
    const long = groups.map((group) => group.padStart(4, "0")).join(":");
    return [formatIp(ip), groups.join(":"), long, long.toUpperCase()].map((text) => url(`[${text}]`));
  }
  const octets = [24n, 16n, 8n, 0n].map((shift) => Number((ip.value >> shift) & 0xffn));
  const [a, b, c, d] = octets as [number, number, number, number];
  const hex = octets.map((octet) => octet.toString(16).padStart(2, "0")).join("");
  const pair = `${hex.slice(0, 4)}:${hex.slice(4)}`;
  return [
    ...[address, `${address}.`, octets.map((octet) => `0${octet.toString(8)}`).join(".")],
    ...[octets.map((octet) => `0x${octet.toString(16)}`).join("."), `0x${hex}`, `0X${hex.toUpperCase()}`],
    ...[String(ip.value), `0${ip.value.toString(8)}`, `${a}.${b}.${c * 256 + d}`, `${a}.${b * 65_536 + c * 256 + d}`],
    ...[
      octets.map((octet) => `%3${String(octet)[0]}${String(octet).slice(1)}`).join("."),
      address.replaceAll(".", "。"),
    ],
    ...[`[::ffff:${address}]`, `[::ffff:${pair}]`, `[::FFFF:${pair.toUpperCase()}]`, `[0:0:0:0:0:ffff:${pair}]`],
    ...[`[::${address}]`, `[::${pair}]`, `[64:ff9b::${address}]`, `[64:ff9b::${pair}]`, `[64:ff9b:1::${address}]`],
    ...[`[2002:${pair}::1]`, `[2001:0:${pair}::1]`],
  ].map(url);
}
