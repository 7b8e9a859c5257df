// Converts bytes to hex digits with a table, because the conversion runs for every packet.
const DIGITS: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export function hexOf(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += DIGITS[byte];
  return text;
}

/** Returns the MAC address at this offset as canonical text. */
export function macAt(bytes: Uint8Array, at: number): string {
  const digits = (index: number) => DIGITS[bytes[at + index]!]!;
  return `${digits(0)}:${digits(1)}:${digits(2)}:${digits(3)}:${digits(4)}:${digits(5)}`;
}
