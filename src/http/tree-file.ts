// Files of a published tree over HTTP: strong ETag, Last-Modified, conditional and HEAD requests, gzip. A file is read
// whole and its headers are made from what was read, so that a reader never gets half of one publication and half of
// the next under one ETag.
import { createHash } from "node:crypto";
import { readFile, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Context } from "hono";
import type { HttpEnv } from "./env.ts";

type TreeFile = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly zipped: Uint8Array<ArrayBuffer> | null;
  readonly etag: string;
  readonly modified: Date;
  /** What the file system said when it was read: another value means another file. */
  readonly stamp: string;
};

const gzipBytes = promisify(gzip);
/** Below this the header costs more than the compression saves. */
const ZIP_BYTES_MIN = 1_024;
/** Larger ones are not part of an index. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;
const KEPT_BYTES_MAX = 64 * 1024 * 1024;
/** One path segment, as the tree has them. */
const SEGMENT = /^(?!\.)[A-Za-z0-9._+-]{1,128}$/;

/** Serves files below `root`. Null is for what is not there, a bad name included. */
export function createTreeFiles(root: string) {
  const kept = new Map<string, TreeFile>();
  let kept_bytes = 0;

  async function find(segments: readonly string[]): Promise<TreeFile | null> {
    if (!segments.every((segment) => SEGMENT.test(segment) && !segment.includes(".."))) return null;
    const key = segments.join("/");
    try {
      const base = await realpath(root);
      // The tree may be reached through a link that a publication moves; a link out of it is not followed.
      const path = await realpath(join(base, ...segments));
      if (!path.startsWith(base + sep)) return null;
      const { mtime, size, ino, dev, isFile } = await stat(path).then((s) => ({ ...pick(s), isFile: s.isFile() }));
      if (!isFile || size > FILE_BYTES_MAX) return null;
      const stamp = `${dev}:${ino}:${size}:${mtime.getTime()}`;
      const present = kept.get(key);
      if (present?.stamp === stamp) return present;
      return keep(key, await read(path, mtime, stamp));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return null;
      throw error;
    }
  }

  function keep(key: string, file: TreeFile): TreeFile {
    kept_bytes += weight(file) - weight(kept.get(key));
    kept.delete(key);
    kept.set(key, file);
    for (const [oldest, each] of kept) {
      if (kept_bytes <= KEPT_BYTES_MAX || oldest === key) break;
      kept.delete(oldest);
      kept_bytes -= weight(each);
    }
    return file;
  }

  /** The answer for this file, 304 included; null when there is none. */
  return async function answer(
    c: Context<HttpEnv>,
    segments: readonly string[],
    contentType: string,
  ): Promise<Response | null> {
    const file = await find(segments);
    if (file === null) return null;
    const zip = file.zipped !== null && acceptsGzip(c.req.header("accept-encoding"));
    const headers: Record<string, string> = {
      etag: zip ? file.etag.replace(/"$/, '-gzip"') : file.etag,
      "last-modified": file.modified.toUTCString(),
      "cache-control": "no-cache",
      vary: "accept-encoding",
    };
    if (isUnchanged(c, file, headers["etag"] ?? "")) return c.body(null, 304, headers);
    const body = zip && file.zipped !== null ? file.zipped : file.bytes;
    if (zip) headers["content-encoding"] = "gzip";
    return c.body(body, 200, { ...headers, "content-type": contentType, "content-length": String(body.length) });
  };
}

function pick({ mtime, size, ino, dev }: { mtime: Date; size: number; ino: number; dev: number }) {
  return { mtime, size, ino, dev };
}

async function read(path: string, modified: Date, stamp: string): Promise<TreeFile> {
  const bytes = new Uint8Array(await readFile(path));
  const zipped = bytes.length < ZIP_BYTES_MIN ? null : new Uint8Array(await gzipBytes(bytes));
  const etag = `"${createHash("sha256").update(bytes).digest("hex").slice(0, 32)}"`;
  return { bytes, zipped, etag, modified, stamp };
}

function weight(file: TreeFile | undefined): number {
  return file === undefined ? 0 : file.bytes.length + (file.zipped?.length ?? 0);
}

/** RFC 9110: If-None-Match decides where it is sent; else If-Modified-Since, in whole seconds. */
function isUnchanged(c: Context<HttpEnv>, file: TreeFile, etag: string): boolean {
  const match = c.req.header("if-none-match");
  if (match !== undefined) {
    return match.trim() === "*" || match.split(",").some((each) => each.trim().replace(/^W\//, "") === etag);
  }
  const since = Date.parse(c.req.header("if-modified-since") ?? "");
  return !Number.isNaN(since) && Math.floor(file.modified.getTime() / 1_000) <= Math.floor(since / 1_000);
}

function acceptsGzip(header: string | undefined): boolean {
  return (header ?? "").split(",").some((each) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(each));
}
