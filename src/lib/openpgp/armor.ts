/**
 * Returns the OpenPGP armored blocks of a file; null for a file without them, such as a binary file. Drops text before
 * the first block. Text after a block stays attached to the block; OpenPGP libraries ignore it.
 * @param label the block's type in its first line, such as "PGP SIGNATURE"
 */
export function armoredBlocks(file: Uint8Array, label: string): string[] | null {
  const mark = `-----BEGIN ${label}-----`;
  const parts = new TextDecoder().decode(file).split(mark).slice(1);
  return parts.length === 0 ? null : parts.map((part) => mark + part);
}
