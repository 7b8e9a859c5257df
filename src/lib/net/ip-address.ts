// Parses IP addresses strictly: IPv4 has four decimal octets without leading zeros, and IPv6 has no zone. A lenient
// parser could count two spellings of one address as two callers, or read 010.0.0.1 as 8.0.0.1.

/** An address as a number of 32 or 128 bits. */
export type Ip = { readonly family: 4 | 6; readonly value: bigint };
/** A network: its address with the host bits cleared, and the length of its prefix in bits. */
export type Cidr = { readonly family: 4 | 6; readonly network: bigint; readonly prefix: number };

const GROUPS = 8;
const MAPPED_PREFIX = 0xffffn << 32n;

/** Parses an IPv4 or IPv6 address; null for any other text. IPv4-mapped IPv6 (::ffff:a.b.c.d) becomes IPv4. */
export function parseIp(text: string): Ip | null {
  if (!text.includes(":")) {
    const value = ipv4Value(text);
    return value === null ? null : { family: 4, value };
  }
  const value = ipv6Value(text);
  if (value === null) return null;
  return value >> 32n === MAPPED_PREFIX >> 32n ? { family: 4, value: value & 0xffffffffn } : { family: 6, value };
}

/** Returns the canonical text: dotted decimal, or RFC 5952 (lower case, the longest run of zero groups as ::). */
export function formatIp(ip: Ip): string {
  if (ip.family === 4) return [24n, 16n, 8n, 0n].map((shift) => (ip.value >> shift) & 0xffn).join(".");
  const groups = Array.from({ length: GROUPS }, (_, i) => Number((ip.value >> BigInt(16 * (7 - i))) & 0xffffn));
  const run = longestZeroRun(groups);
  const hex = (part: number[]) => part.map((group) => group.toString(16)).join(":");
  return run.length < 2
    ? hex(groups)
    : `${hex(groups.slice(0, run.start))}::${hex(groups.slice(run.start + run.length))}`;
}

/** Returns the canonical text of an address; any other text unchanged. IPv4-mapped IPv6 becomes IPv4. */
export function canonicalIp(text: string): string {
  const ip = parseIp(text);
  return ip === null ? text : formatIp(ip);
}

/** Parses "10.0.0.0/8", "2001:db8::/32" or a single address; null when malformed. Clears the host bits. */
export function parseCidr(text: string): Cidr | null {
  const [address = "", prefixText, ...more] = text.split("/");
  const ip = parseIp(address);
  if (ip === null || more.length > 0) return null;
  const bits = bitsOf(ip.family);
  if (prefixText === undefined) return { family: ip.family, network: ip.value, prefix: bits };
  if (!/^(0|[1-9]\d{0,2})$/.test(prefixText)) return null;
  // An IPv4-mapped address was converted to IPv4, so its prefix length includes 96 leading bits.
  const prefix = Number(prefixText) - (ip.family === 4 && address.includes(":") ? 96 : 0);
  if (prefix < 0 || prefix > bits) return null;
  return { family: ip.family, network: networkOf(ip, prefix), prefix };
}

/** Returns whether the address is in the network; false if they are of different families. */
export function inCidr(ip: Ip, cidr: Cidr): boolean {
  return ip.family === cidr.family && networkOf(ip, cidr.prefix) === cidr.network;
}

/** Returns the address with its host bits cleared. `prefix` is 0 to 32 or 0 to 128. */
export function networkOf(ip: Ip, prefix: number): bigint {
  const hostBits = BigInt(bitsOf(ip.family) - prefix);
  return (ip.value >> hostBits) << hostBits;
}

function bitsOf(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

function ipv4Value(text: string): bigint | null {
  const octets = text.split(".");
  if (octets.length !== 4) return null;
  let value = 0n;
  for (const octet of octets) {
    if (!/^(0|[1-9]\d{0,2})$/.test(octet) || Number(octet) > 255) return null;
    value = (value << 8n) | BigInt(octet);
  }
  return value;
}

function ipv6Value(text: string): bigint | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const head = ipv6Groups(halves[0]!, halves.length === 1);
  const tail = halves.length === 2 ? ipv6Groups(halves[1]!, true) : [];
  if (head === null || tail === null) return null;
  const missing = GROUPS - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null;
  return [...head, ...Array<bigint>(missing).fill(0n), ...tail].reduce((value, group) => (value << 16n) | group, 0n);
}

function ipv6Groups(text: string, dottedTail: boolean): bigint[] | null {
  if (text === "") return [];
  const groups: bigint[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    if (part.includes(".")) {
      const value = dottedTail && index === parts.length - 1 ? ipv4Value(part) : null;
      if (value === null) return null;
      groups.push(value >> 16n, value & 0xffffn);
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      groups.push(BigInt(`0x${part}`));
    } else {
      return null;
    }
  }
  return groups.length <= GROUPS ? groups : null;
}

function longestZeroRun(groups: number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let end = start;
    while (groups[end] === 0) end++;
    if (end - start > best.length) best = { start, length: end - start };
  }
  return best;
}
