// Encodes a DNS name as in DNS messages. DHCP options for search domains have the same encoding (RFC 1035, RFC 3397,
// RFC 8415).

/**
 * Returns a name's labels, each preceded by its length, and then the empty root label. Labels must have at most 63
 * bytes.
 */
export function nameBytes(name: string): number[] {
  return [
    ...name.split(".").flatMap((label) => {
      const bytes = new TextEncoder().encode(label);
      return [bytes.length, ...bytes];
    }),
    0,
  ];
}
