/**
 * Returns the OpenPGP armored blocks of a file, or null for a binary file. Ignores other text between the blocks.
 * @param label the block's type in its first line, such as "PGP SIGNATURE"
 */
export function armoredBlocks(file: Uint8Array, label: string): string[] | null {
  const mark = `-----BEGIN ${label}-----`;
  const parts = new TextDecoder().decode(file).split(mark).slice(1);
  return parts.length === 0 ? null : parts.map((part) => mark + part);
}
