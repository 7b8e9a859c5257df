// Writes an ar archive, the container of a Debian package. Supports only the common format: names of at most 16
// characters.
import { Buffer } from "node:buffer";

export type Member = { readonly name: string; readonly bytes: Uint8Array };

const MAGIC = "!<arch>\n";
const NAME_CHARS_MAX = 16;

/** Writes the members in the given order, owned by root, with the time `time_s` (seconds since 1970). */
export function arArchive(members: readonly Member[], time_s: number): Uint8Array {
  const parts: Uint8Array[] = [Buffer.from(MAGIC)];
  for (const { name, bytes } of members) {
    if (name.length > NAME_CHARS_MAX) throw new Error(`ar: the name ${name} is longer than ${NAME_CHARS_MAX}`);
    const fields = [
      name.padEnd(NAME_CHARS_MAX),
      String(time_s).padEnd(12),
      "0".padEnd(6),
      "0".padEnd(6),
      "100644".padEnd(8),
      String(bytes.length).padEnd(10),
    ];
    parts.push(Buffer.from(`${fields.join("")}\`\n`), bytes);
    // Members start at even offsets.
    if (bytes.length % 2 === 1) parts.push(Buffer.from("\n"));
  }
  return Buffer.concat(parts);
}
