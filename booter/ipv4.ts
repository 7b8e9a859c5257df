// Converts IPv4 addresses between text and the unsigned 32-bit numbers of packets.

const DOT = 46;
const ZERO = 48;

/**
 * Parses an IPv4 address. Returns null unless the text is four decimal octets without leading zeros. The function runs
 * for every packet, so it uses no RegExp.
 */
export function ipv4Number(text: string): number | null {
  let [value, octet, digits, octets] = [0, 0, 0, 0];
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? DOT : text.charCodeAt(at);
    if (code === DOT) {
      if (digits === 0) return null;
      value = value * 256 + octet;
      octets += 1;
      [octet, digits] = [0, 0];
      continue;
    }
    const digit = code - ZERO;
    if (digit < 0 || digit > 9 || (digits > 0 && octet === 0)) return null;
    octet = octet * 10 + digit;
    digits += 1;
    if (octet > 255) return null;
  }
  return octets === 4 ? value : null;
}

export function ipv4Text(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

export function maskOf(prefix_len: number): number {
  return prefix_len === 0 ? 0 : (0xffffffff << (32 - prefix_len)) >>> 0;
}

export function sameNetwork(a: number, b: number, prefix_len: number): boolean {
  const mask = maskOf(prefix_len);
  return ((a & mask) >>> 0) === ((b & mask) >>> 0);
}

export function broadcastOf({ address, prefix_len }: { address: string; prefix_len: number }): string {
  return ipv4Text(((ipv4Number(address) ?? 0) | ~maskOf(prefix_len)) >>> 0);
}

/** Returns a socket's peer address as IPv4 text. Sockets for both families show 10.0.0.1 as ::ffff:10.0.0.1. */
export function peerText(address: string | undefined): string {
  return (address ?? "").replace(/^::ffff:/i, "");
}
