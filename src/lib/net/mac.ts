// MAC addresses. One spelling inside: lower-case hex, colons between octets. Document 2, Boot record.

const DIGITS = 12;

/**
 * The canonical form of any 12 hex digits, with or without one separator (`:`, `-`, `.` or a space) between two of them.
 * @returns aa:bb:cc:dd:ee:ff, or null when it is something else
 */
export function canonicalMac(text: string): string | null {
  if (!/^[0-9A-Fa-f](?:[:\-. ]?[0-9A-Fa-f]){11}$/.test(text)) return null;
  const digits = text.toLowerCase().replace(/[^0-9a-f]/g, "");
  return Array.from({ length: DIGITS / 2 }, (_, octet) => digits.slice(octet * 2, octet * 2 + 2)).join(":");
}

/** Whether a canonical MAC names a group, broadcast included: the lowest bit of its first octet. No interface has one. */
export function isMulticastMac(mac: string): boolean {
  return (Number.parseInt(mac.slice(0, 2), 16) & 1) === 1;
}
