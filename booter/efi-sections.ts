// Reads the names of the sections of an EFI program, which is a file in the format PE/COFF. The reader never throws,
// because an operator may stage any file.

/** Offsets and sizes in bytes, from Microsoft's "PE Format". */
const PE_OFFSET_AT = 0x3c;
const SIGNATURE = 0x0000_4550; // "PE\0\0", little-endian.
const SECTIONS_AT = 6;
const OPTIONAL_SIZE_AT = 20;
const HEADER_BYTES = 24;
const SECTION_BYTES = 40;
const NAME_BYTES = 8;

/** Returns the names of the sections; null if the file is not an EFI program. */
export function efiSections(bytes: Uint8Array): readonly string[] | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < PE_OFFSET_AT + 4) return null;
  const start = view.getUint32(PE_OFFSET_AT, true);
  if (start + HEADER_BYTES > bytes.length || view.getUint32(start, true) !== SIGNATURE) return null;
  const table = start + HEADER_BYTES + view.getUint16(start + OPTIONAL_SIZE_AT, true);
  const count = view.getUint16(start + SECTIONS_AT, true);
  if (table + count * SECTION_BYTES > bytes.length) return null;
  return Array.from({ length: count }, (_, index) => {
    const at = table + index * SECTION_BYTES;
    return new TextDecoder("latin1").decode(bytes.subarray(at, at + NAME_BYTES)).split("\0", 1)[0]!;
  });
}
