// Reads a Debian package without Debian's tools and without the code that writes packages.
import { Buffer } from "node:buffer";
import { gunzipSync } from "node:zlib";

export type TarFile = {
  readonly path: string;
  readonly mode: string;
  readonly owner: string;
  readonly time_s: number;
  readonly isFolder: boolean;
  readonly bytes: Buffer;
};

export type Deb = {
  readonly members: readonly string[];
  /** Control files by name, such as `control` or `postinst`. */
  readonly control: ReadonlyMap<string, TarFile>;
  /** Files by path from the root of the file system; folders end with a slash. */
  readonly data: ReadonlyMap<string, TarFile>;
};

export function readDeb(archive: Uint8Array): Deb {
  const members = readAr(Buffer.from(archive));
  const tarOf = (name: string) => new Map(readTar(gunzipSync(members.get(name)!)).map((each) => [each.path, each]));
  return { members: [...members.keys()], control: tarOf("control.tar.gz"), data: tarOf("data.tar.gz") };
}

function readAr(archive: Buffer): Map<string, Buffer> {
  if (archive.toString("latin1", 0, 8) !== "!<arch>\n") throw new Error("not an ar archive");
  const members = new Map<string, Buffer>();
  for (let at = 8; at < archive.length;) {
    const size_bytes = Number(archive.toString("latin1", at + 48, at + 58));
    if (archive.toString("latin1", at + 58, at + 60) !== "`\n") throw new Error(`no ar header at ${at}`);
    const start = at + 60;
    members.set(archive.toString("latin1", at, at + 16).trim(), archive.subarray(start, start + size_bytes));
    at = start + size_bytes + (size_bytes % 2);
  }
  return members;
}

export function readTar(archive: Buffer): TarFile[] {
  const files: TarFile[] = [];
  for (let at = 0; archive[at] !== 0 && at < archive.length;) {
    const text = (from: number, length: number) =>
      archive.toString("utf8", at + from, at + from + length).split("\0")[0]!.trim();
    const size_bytes = parseInt(text(124, 12), 8);
    const prefix = text(345, 155);
    const path = `${prefix === "" ? "" : `${prefix}/`}${text(0, 100)}`.replace(/^\.\//, "");
    files.push({
      path,
      mode: parseInt(text(100, 8), 8).toString(8),
      owner: `${text(265, 32)}:${text(297, 32)}`,
      time_s: parseInt(text(136, 12), 8),
      isFolder: text(156, 1) === "5",
      bytes: archive.subarray(at + 512, at + 512 + size_bytes),
    });
    at += 512 + Math.ceil(size_bytes / 512) * 512;
  }
  return files;
}
