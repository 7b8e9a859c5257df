// Extracts the service tag from the UUID of a Dell machine. The SMBIOS UUID, which is also the GUID in DHCP option 97,
// contains "DELL" and the seven characters of the tag. In byte order, where 1 to 7 are the characters of the tag:
//
//   44 45 4c 4c   2 00   10 3   80 4   (1 | 80) c0 4f   5 6 7
//
// The first three fields of a UUID are little-endian in SMBIOS. Some firmware sends them big-endian, as they are
// printed: 4c 4c 45 44   00 2   3 10. Shorter tags are padded with spaces.

const GUID = /^[0-9a-f]{32}$/;
const BYTES_AS_STORED = "44454c4c";
const BYTES_AS_PRINTED = "4c4c4544";
const TAG = /^[0-9A-Z]{1,7}$/;

/** Returns the tag, or null if the GUID is not 32 hex digits (hyphens allowed) or contains no tag. Never throws. */
export function serialOfGuid(guid: unknown): string | null {
  const hex = typeof guid === "string" ? guid.toLowerCase().replaceAll("-", "") : "";
  if (!GUID.test(hex)) return null;
  const stored = asStored(hex);
  if (stored === null) return null;
  const byte = (at: number) => Number.parseInt(stored.slice(at * 2, at * 2 + 2), 16);
  const marked = byte(5) === 0 && byte(6) === 0x10 && byte(8) === 0x80 && byte(10) >= 0x80;
  if (!marked) return null;
  const tag = String.fromCharCode(byte(10) & 0x7f, ...[4, 7, 9, 13, 14, 15].map(byte)).replace(/(?<! ) +$/, "");
  return TAG.test(tag) ? tag : null;
}

function asStored(hex: string): string | null {
  if (hex.startsWith(BYTES_AS_STORED)) return hex;
  if (!hex.startsWith(BYTES_AS_PRINTED)) return null;
  return BYTES_AS_STORED + hex.slice(10, 12) + hex.slice(8, 10) + hex.slice(14, 16) + hex.slice(12, 14) + hex.slice(16);
}
