// IPv4 addresses as unsigned 32-bit numbers, as packets carry them.

/** Null for everything but four decimal octets without leading zeros. */
export function ipv4Number(text: string): number | null {
  const found = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (found === null) return null;
  let value = 0;
  for (const octet of found.slice(1)) {
    if (Number(octet) > 255 || (octet.length > 1 && octet.startsWith("0"))) return null;
    value = value * 256 + Number(octet);
  }
  return value;
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

/** The address of a socket's peer as IPv4 text: sockets that take both families write ::ffff:10.0.0.1. */
export function peerText(address: string | undefined): string {
  return (address ?? "").replace(/^::ffff:/i, "");
}
