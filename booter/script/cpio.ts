// Writes an archive in the format `newc` of cpio, which Linux unpacks into its initial file system after the image's
// own archive (Documentation/driver-api/early-userspace/buffer-format.rst of Linux).
import { joinedBytes } from "../../src/lib/text/joined-bytes.ts";

export type CpioFile = { readonly path: string; readonly text: string };

const MAGIC = "070701";
const FOLDER_MODE = 0o040700;
const FILE_MODE = 0o100600;
/** The name of the entry that ends an archive. */
const TRAILER = "TRAILER!!!";
/** Headers and contents begin at multiples of this number of bytes. */
const ALIGNMENT = 4;

/** Returns an archive of a folder and its files. Only root of the booted system may read them. */
export function cpioArchive(folder: string, files: readonly CpioFile[]): Uint8Array {
  const parents = folder.split("/").map((_, at, all) => all.slice(0, at + 1).join("/"));
  const entries = [
    ...parents.map((path) => ({ path, mode: path === folder ? FOLDER_MODE : FOLDER_MODE | 0o055, text: "" })),
    ...files.map(({ path, text }) => ({ path: `${folder}/${path}`, mode: FILE_MODE, text })),
    { path: TRAILER, mode: 0, text: "" },
  ];
  return joinedBytes(entries.flatMap(({ path, mode, text }, inode) => entry({ path, mode, text, inode })));
}

function entry(
  { path, mode, text, inode }: {
    readonly path: string;
    readonly mode: number;
    readonly text: string;
    readonly inode: number;
  },
): Uint8Array[] {
  const encoder = new TextEncoder();
  const [name, content] = [encoder.encode(`${path}\0`), encoder.encode(text)];
  const links = mode === FILE_MODE || mode === 0 ? 1 : 2;
  // ino, mode, uid, gid, nlink, mtime, filesize, devmajor, devminor, rdevmajor, rdevminor, namesize, check
  const fields = [inode, mode, 0, 0, links, 0, content.length, 0, 0, 0, 0, name.length, 0];
  const header = encoder.encode(
    MAGIC + fields.map((each) => each.toString(16).toUpperCase().padStart(8, "0")).join(""),
  );
  return [header, name, padding(header.length + name.length), content, padding(content.length)];
}

function padding(length: number): Uint8Array {
  return new Uint8Array((ALIGNMENT - length % ALIGNMENT) % ALIGNMENT);
}
