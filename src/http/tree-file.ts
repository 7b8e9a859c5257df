// Serves the files of a published directory tree, with strong ETags, Last-Modified, conditional requests, HEAD requests
// and gzip. The ETag is computed from the bytes that were read, so that it fits these bytes even if a new version of
// the tree is published during the read.
import { createHash } from "node:crypto";
import { open, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Context } from "hono";
import { acceptsGzip } from "./accepts-gzip.ts";
import type { HttpEnv } from "./env.ts";

type TreeFile = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly zipped: Uint8Array<ArrayBuffer> | null;
  readonly etag: string;
  readonly modified: Date;
  /** Identifies the version of the file that was read. A changed or replaced file has another stamp. */
  readonly stamp: string;
};

const gzipBytes = promisify(gzip);
/** Smaller files are not compressed, because that would save few bytes. */
const ZIP_BYTES_MIN = 1_024;
/** An image index has no larger files, so they are not served. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;
/** The maximum number of bytes of files, plain and compressed, that a tree keeps in memory. */
const KEPT_BYTES_MAX = 64 * 1024 * 1024;
/** The form of a path segment in the tree. */
const SEGMENT = /^(?!\.)[A-Za-z0-9._+-]{1,128}$/;

/**
 * The maximum number of attempts per request. An attempt that finds no file is repeated if a publication moved the root
 * link during the attempt.
 */
const SWITCHES_MAX = 20;

/**
 * Returns a function that serves files below `root`; it returns null for missing files and bad names. `root` may be a
 * symbolic link that each publication moves. Opens every path through `root`, because Deno's read permission covers
 * only paths that begin with `root`.
 */
export function createTreeFiles(root: string) {
  const kept = new Map<string, TreeFile>();
  let kept_bytes = 0;

  async function find(segments: readonly string[]): Promise<TreeFile | null> {
    if (!segments.every((segment) => SEGMENT.test(segment) && !segment.includes(".."))) return null;
    for (let switches = 0; switches < SWITCHES_MAX; switches++) {
      const base = await unlessMissing(realpath(root));
      if (base === null) return null;
      const found = await unlessMissing(load(segments, base));
      // If this version of the tree was removed while its file was read, the next version may have the file.
      if (found !== null || await unlessMissing(realpath(root)) === base) return found;
    }
    throw new Error(`${root} was published ${SWITCHES_MAX} times during one request`);
  }

  /**
   * Returns null for anything but a regular file inside the tree, and for a file that is too large. Throws when the
   * file is missing.
   */
  async function load(segments: readonly string[], base: string): Promise<TreeFile | null> {
    const path = join(root, ...segments);
    const real = await realpath(path);
    if (!real.startsWith(base + sep)) return null;
    // Opening a pipe would block until a writer opens it.
    if (!(await stat(path)).isFile()) return null;
    const key = segments.join("/");
    const handle = await open(path, "r");
    try {
      const file = await handle.stat();
      if (file.size > FILE_BYTES_MAX) return null;
      const stamp = `${real}:${file.dev}:${file.ino}:${file.size}:${file.mtimeMs}`;
      const present = kept.get(key);
      if (present?.stamp === stamp) return present;
      return keep(key, await treeFile(new Uint8Array(await handle.readFile()), file.mtime, stamp));
    } finally {
      await handle.close();
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

  /** Returns the answer for a file, which may be a 304; null if the tree has no such file to serve. */
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

/** Waits for a file operation. Returns null when the file or folder does not exist. */
async function unlessMissing<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  }
}

async function treeFile(bytes: Uint8Array<ArrayBuffer>, modified: Date, stamp: string): Promise<TreeFile> {
  const zipped = bytes.length < ZIP_BYTES_MIN ? null : new Uint8Array(await gzipBytes(bytes));
  const etag = `"${createHash("sha256").update(bytes).digest("hex").slice(0, 32)}"`;
  return { bytes, zipped, etag, modified, stamp };
}

function weight(file: TreeFile | undefined): number {
  return file === undefined ? 0 : file.bytes.length + (file.zipped?.length ?? 0);
}

/**
 * Returns whether the client already has the file. If-None-Match has precedence, because If-Modified-Since is precise
 * only to the second (RFC 9110).
 */
function isUnchanged(c: Context<HttpEnv>, file: TreeFile, etag: string): boolean {
  const match = c.req.header("if-none-match");
  if (match !== undefined) {
    return match.trim() === "*" || match.split(",").some((each) => each.trim().replace(/^W\//, "") === etag);
  }
  const since = Date.parse(c.req.header("if-modified-since") ?? "");
  return !Number.isNaN(since) && Math.floor(file.modified.getTime() / 1_000) <= Math.floor(since / 1_000);
}
