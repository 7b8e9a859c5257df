// Writes reproducible tar archives: sorted entries, one time stamp, owned by root.
import { Buffer } from "node:buffer";

export type Entry = {
  /** Relative to the root of the file system, without a leading slash. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Permission bits. */
  readonly mode: number;
};

const BLOCK_BYTES = 512;
/** Sizes of the two path fields of the ustar format (POSIX.1-1988). */
const NAME_BYTES_MAX = 100;
const PREFIX_BYTES_MAX = 155;
const FOLDER_MODE = 0o755;

type Header = {
  readonly path: string;
  readonly mode: number;
  readonly size_bytes: number;
  readonly time_s: number;
  readonly type: "file" | "folder";
};

/**
 * Archives the files and their parent folders as `./usr/bin/name`. Throws an Error if ustar cannot store a path or a
 * path occurs twice.
 */
export function tarArchive(entries: readonly Entry[], time_s: number): Uint8Array {
  const folders = new Set(["./"]);
  const files = new Map<string, Entry>();
  for (const entry of entries) {
    const path = `./${entry.path}`;
    if (files.has(path)) throw new Error(`tar: ${entry.path} is listed twice`);
    files.set(path, entry);
    for (let at = path.indexOf("/", 2); at !== -1; at = path.indexOf("/", at + 1)) folders.add(path.slice(0, at + 1));
  }
  const parts: Uint8Array[] = [];
  // A folder's path ends with a slash, so it sorts before its files.
  for (const path of [...folders, ...files.keys()].sort()) {
    const file = files.get(path);
    if (file === undefined) {
      parts.push(header({ path, mode: FOLDER_MODE, size_bytes: 0, time_s, type: "folder" }));
    } else {
      parts.push(header({ path, mode: file.mode, size_bytes: file.bytes.length, time_s, type: "file" }), file.bytes);
      parts.push(Buffer.alloc(padding(file.bytes.length, BLOCK_BYTES)));
    }
  }
  parts.push(Buffer.alloc(2 * BLOCK_BYTES));
  return Buffer.concat(parts);
}

function padding(size_bytes: number, block_bytes: number): number {
  return (block_bytes - (size_bytes % block_bytes)) % block_bytes;
}

function header({ path, mode, size_bytes, time_s, type }: Header): Uint8Array {
  const block = Buffer.alloc(BLOCK_BYTES);
  const { prefix, name } = splitPath(path);
  block.write(name, 0);
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size_bytes, 12), 124);
  block.write(octal(time_s, 12), 136);
  // The checksum counts its own field as blanks.
  block.write(" ".repeat(8), 148);
  block.write(type === "file" ? "0" : "5", 156);
  block.write("ustar\0" + "00", 257);
  block.write("root", 265);
  block.write("root", 297);
  block.write(octal(0, 8), 329);
  block.write(octal(0, 8), 337);
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

/** Splits a long path at a slash, which is not stored. */
function splitPath(path: string): { readonly prefix: string; readonly name: string } {
  if (Buffer.byteLength(path) <= NAME_BYTES_MAX) return { prefix: "", name: path };
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (name === "" || Buffer.byteLength(prefix) > PREFIX_BYTES_MAX) break;
    if (Buffer.byteLength(name) <= NAME_BYTES_MAX) return { prefix, name };
  }
  throw new Error(`tar: the path ${path} is too long`);
}

function octal(value: number, field_bytes: number): string {
  const digits = value.toString(8).padStart(field_bytes - 1, "0");
  if (digits.length >= field_bytes) throw new Error(`tar: ${value} does not fit into its field`);
  return `${digits}\0`;
}
