// Parses MAC addresses. The canonical form is lower-case hex with colons.

const DIGITS = 12;

/**
 * Converts a MAC to its canonical form. Between two hex digits the text may have one separator: `:`, `-`, `.` or a
 * space.
 * @returns aa:bb:cc:dd:ee:ff, or null for any other text
 */
export function canonicalMac(text: string): string | null {
  if (!/^[0-9A-Fa-f](?:[:\-. ]?[0-9A-Fa-f]){11}$/.test(text)) return null;
  const digits = text.toLowerCase().replace(/[^0-9a-f]/g, "");
  return Array.from({ length: DIGITS / 2 }, (_, octet) => digits.slice(octet * 2, octet * 2 + 2)).join(":");
}

/** Returns whether a canonical MAC is a group address (lowest bit of the first octet is 1), which no interface has. */
export function isMulticastMac(mac: string): boolean {
  return (Number.parseInt(mac.slice(0, 2), 16) & 1) === 1;
}
