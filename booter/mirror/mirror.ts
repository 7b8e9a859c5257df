// Fetches an install channel from `channel_url`, stores its files by their SHA-256, and serves verified files. A new
// channel replaces the old channel only after all files of the new channel are stored. A channel is refused if it was
// signed earlier than the newest channel that was ever accepted. The booter remembers that signing time across
// restarts, even if a stored tarball is lost or the clock is wrong at the start. To return to an older channel, stop
// the booter, and remove the mirror's folder.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileReason } from "../../cli/internal/file-problem.ts";
import { fileAnswer, type HttpAnswer, type HttpAsked, NOT_FOUND } from "../http/answer.ts";
import { CALL_MS } from "../limits.ts";
import type { Log } from "../log.ts";
import { readOwn, writeDurably } from "../private-file.ts";
import { type Channel, ChannelFault, type ChannelFile, verifiedChannel } from "./channel.ts";

export type MirrorOptions = {
  readonly channel_url: string;
  readonly key: Uint8Array;
  /** The folder that stores the channel and its files. */
  readonly folder: string;
  readonly now: () => Date;
  readonly log: Log;
  readonly fetch?: typeof fetch;
};

export type Mirror = {
  /**
   * Fetches and verifies the channel. Keeps the old channel on failure. Never rejects; returns whether the refresh
   * succeeded.
   */
  refresh(): Promise<boolean>;
  /** Loads the channel that an earlier run stored, and verifies it again. */
  restore(): Promise<void>;
  handle(asked: HttpAsked): Promise<HttpAnswer | null>;
};

const DOCUMENT = "channel.json";
const SIGNATURE = "channel.json.asc";
/**
 * The file with the accepted document, its signature and its signing time: one file, so that a crash cannot separate
 * them.
 */
const KEPT = "taken.json";
const DOCUMENT_BYTES_MAX = 1_048_576;
/** The time limit for fetching one file, enough for a whole tarball over a slow line. */
const FILE_MS = 1_800_000;

export function openMirror(options: MirrorOptions): Mirror {
  const { channel_url, key, folder, now, log, fetch: ask = fetch } = options;
  let served: Channel | null = null;
  /**
   * The signing time of the newest channel that was ever accepted; null if it is unknown; undefined until the file was
   * read.
   */
  let floor: Date | null | undefined;
  const kept = (file: ChannelFile) => join(folder, file.sha256);

  async function fetchFile(file: ChannelFile): Promise<void> {
    if (await holds(kept(file), file)) return;
    const url = new URL(file.name, channel_url).href;
    const answer = await ask(url, { redirect: "error", signal: AbortSignal.timeout(FILE_MS) });
    if (!answer.ok || answer.body === null) throw new ChannelFault(`${url}: ${answer.status}`);
    const draft = `${kept(file)}.part`;
    const out = await open(draft, "w", 0o600);
    try {
      const hash = createHash("sha256");
      let bytes = 0;
      for await (const part of answer.body) {
        bytes += part.length;
        if (bytes > file.bytes) throw new ChannelFault(`${file.name}: is longer than channel.json says`);
        hash.update(part);
        await out.writeFile(part);
      }
      if (bytes !== file.bytes || hash.digest("hex") !== file.sha256) {
        throw new ChannelFault(`${file.name}: size or SHA-256 differs from channel.json`);
      }
      await out.sync();
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    } finally {
      await out.close();
    }
    await rename(draft, kept(file));
  }

  /** Reads the stored channel and `floor`. Verifies nothing, because the result must not depend on the clock. */
  async function readStored(): Promise<Stored | null> {
    const text = await readOwn(join(folder, KEPT)).catch((error) => {
      throw new ChannelFault(`${join(folder, KEPT)}: cannot be read: ${fileReason(error)}`);
    });
    const stored = text === null ? null : storedOf(text);
    floor = stored?.signed_at ?? null;
    return stored;
  }

  async function take(document: Uint8Array, signature: Uint8Array): Promise<Channel> {
    if (floor === undefined) await readStored();
    const channel = await verifiedChannel({ document, signature, key, now: now() });
    if (floor != null && channel.signed_at < floor) {
      throw new ChannelFault(`channel.json: is older than the accepted one, which was signed ${floor.toISOString()}`);
    }
    return channel;
  }

  /** Removes files of earlier channels. A file that is being read stays until it is closed. */
  async function removeOthers(channel: Channel): Promise<void> {
    const wanted = new Set([KEPT, ...channel.files.map(({ sha256 }) => sha256)]);
    const others = (await readdir(folder)).filter((name) => !wanted.has(name));
    for (const name of others) await rm(join(folder, name), { force: true });
  }

  return {
    async refresh() {
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const [document, signature] = [await fetchSmall(ask, channel_url), await fetchSmall(ask, `${channel_url}.asc`)];
        const channel = await take(document, signature);
        for (const file of channel.files) await fetchFile(file);
        await writeDurably(join(folder, KEPT), keptText(channel));
        const is_new = served === null || channel.signed_at > served.signed_at;
        [served, floor] = [channel, channel.signed_at];
        await removeOthers(channel);
        if (is_new) log("mirror.taken", { files: channel.files.length, signed_at: channel.signed_at.toISOString() });
        return true;
      } catch (error) {
        log("mirror.refused", { reason: error instanceof Error ? error.message : "unknown" });
        return false;
      }
    },
    async restore() {
      try {
        const stored = await readStored();
        if (stored === null) return;
        const channel = await take(stored.document, stored.signature);
        floor = channel.signed_at;
        for (const file of channel.files) if (!await holds(kept(file), file)) return;
        served = channel;
      } catch {
        // The stored channel cannot be read or verified. The next refresh reports the reason, or fetches the channel
        // again.
      }
    },
    handle({ method, path }) {
      if (method === "POST" || served === null) return Promise.resolve(null);
      const name = path.slice(1);
      if (name === DOCUMENT) {
        return Promise.resolve({ status: 200, type: "application/json", content: { bytes: served.document } });
      }
      if (name === SIGNATURE) {
        return Promise.resolve({
          status: 200,
          type: "application/pgp-signature",
          content: { bytes: served.signature },
        });
      }
      const file = served.files.find((each) => each.name === name);
      if (file === undefined) return Promise.resolve(null);
      const type = name.endsWith(".sh") ? "text/x-shellscript; charset=utf-8" : "application/gzip";
      return holdsSize(kept(file), file).then((is) => is ? fileAnswer(kept(file), type) : NOT_FOUND);
    },
  };
}

/**
 * Fetches the document or the signature of a channel. Each of them may have at most 1 MiB.
 * @throws ChannelFault with the address and the reason
 */
export async function fetchSmall(ask: typeof fetch, url: string): Promise<Uint8Array> {
  const answer = await ask(url, { redirect: "error", signal: AbortSignal.timeout(CALL_MS) }).catch((error) => {
    throw new ChannelFault(`${url}: ${error instanceof Error ? error.message : "cannot be fetched"}`);
  });
  if (!answer.ok || answer.body === null) throw new ChannelFault(`${url}: ${answer.status}`);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const part of answer.body) {
      bytes += part.length;
      if (bytes > DOCUMENT_BYTES_MAX) throw new ChannelFault(`${url}: is too long`);
      parts.push(part);
    }
  } catch (error) {
    throw error instanceof ChannelFault ? error : new ChannelFault(`${url}: the response ended early`);
  }
  return Buffer.concat(parts);
}

/**
 * A stored channel that is not verified. `signed_at` is null if an earlier release stored the channel without its
 * signing time.
 */
type Stored = Pick<Channel, "document" | "signature"> & { readonly signed_at: Date | null };

function keptText({ document, signature, signed_at }: Channel): string {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
  return `${JSON.stringify({ document: text(document), signature: text(signature), signed_at })}\n`;
}

function storedOf(text: string): Stored {
  const bytes = (value: unknown) => Buffer.from(String(value ?? ""), "base64");
  try {
    const { document, signature, signed_at = null } = JSON.parse(text) as Record<string, unknown>;
    const time = signed_at === null ? null : new Date(String(signed_at));
    if (time !== null && Number.isNaN(time.getTime())) throw new Error("the signing time is invalid");
    return { document: bytes(document), signature: bytes(signature), signed_at: time };
  } catch {
    throw new ChannelFault(`${KEPT}: is damaged; remove the mirror's folder to accept any signed channel`);
  }
}

async function holdsSize(path: string, file: ChannelFile): Promise<boolean> {
  return await stat(path).then(({ size }) => size === file.bytes, () => false);
}

/** Returns whether the file is stored and has the right SHA-256. */
async function holds(path: string, file: ChannelFile): Promise<boolean> {
  if (!await holdsSize(path, file)) return false;
  const hash = createHash("sha256");
  for await (const part of createReadStream(path)) hash.update(part);
  return hash.digest("hex") === file.sha256;
}
