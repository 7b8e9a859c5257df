// Fetches the channel, keeps its files under their SHA-256, and serves what was verified. A new channel takes the place
// of the old one only when every file of it is here.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileAnswer, type HttpAnswer, type HttpAsked, NOT_FOUND } from "../http/answer.ts";
import { CALL_MS } from "../limits.ts";
import type { Log } from "../log.ts";
import { writeDurably } from "../private-file.ts";
import { type Channel, ChannelFault, type ChannelFile, verifiedChannel } from "./channel.ts";

export type MirrorOptions = {
  readonly channel_url: string;
  readonly key: Uint8Array;
  /** Where the files are kept. */
  readonly folder: string;
  readonly now: () => Date;
  readonly log: Log;
  readonly fetch?: typeof fetch;
};

export type Mirror = {
  /** Fetches and verifies; what was served before stays when that fails. Never rejects; whether it went well. */
  refresh(): Promise<boolean>;
  /** Takes what an earlier run kept, verified again. */
  restore(): Promise<void>;
  handle(asked: HttpAsked): Promise<HttpAnswer | null>;
};

const DOCUMENT = "channel.json";
const SIGNATURE = "channel.json.asc";
const DOCUMENT_BYTES_MAX = 1_048_576;
/** A whole tarball over a slow line. */
const FILE_MS = 1_800_000;

export function openMirror(options: MirrorOptions): Mirror {
  const { channel_url, key, folder, now, log, fetch: ask = fetch } = options;
  let served: Channel | null = null;
  const kept = (file: ChannelFile) => join(folder, file.sha256);

  async function small(url: string): Promise<Uint8Array> {
    const answer = await ask(url, { redirect: "error", signal: AbortSignal.timeout(CALL_MS) });
    if (!answer.ok) throw new ChannelFault(`${url}: ${answer.status}`);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    if (bytes.length > DOCUMENT_BYTES_MAX) throw new ChannelFault(`${url}: is too long`);
    return bytes;
  }

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
        if (bytes > file.bytes) throw new ChannelFault(`${file.name}: is longer than the channel says`);
        hash.update(part);
        await out.writeFile(part);
      }
      if (bytes !== file.bytes || hash.digest("hex") !== file.sha256) {
        throw new ChannelFault(`${file.name}: its SHA-256 is not the channel's`);
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

  async function take(document: Uint8Array, signature: Uint8Array): Promise<Channel> {
    const channel = await verifiedChannel({ document, signature, key, now: now() });
    if (served !== null && channel.signed_at < served.signed_at) {
      throw new ChannelFault("channel.json: is older than the one that is served");
    }
    return channel;
  }

  return {
    async refresh() {
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const [document, signature] = [await small(channel_url), await small(`${channel_url}.asc`)];
        const channel = await take(document, signature);
        for (const file of channel.files) await fetchFile(file);
        await writeDurably(join(folder, DOCUMENT), new TextDecoder().decode(document));
        await writeDurably(join(folder, SIGNATURE), new TextDecoder().decode(signature));
        const is_new = served === null || channel.signed_at > served.signed_at;
        served = channel;
        if (is_new) log("mirror.taken", { files: channel.files.length, signed_at: channel.signed_at.toISOString() });
        return true;
      } catch (error) {
        log("mirror.refused", { reason: error instanceof Error ? error.message : "unknown" });
        return false;
      }
    },
    async restore() {
      try {
        const channel = await take(await readFile(join(folder, DOCUMENT)), await readFile(join(folder, SIGNATURE)));
        for (const file of channel.files) if (!await holds(kept(file), file)) return;
        served = channel;
      } catch {
        // Nothing is kept, or it cannot be believed any more: the next refresh brings it.
      }
    },
    handle({ method, path }) {
      if (method === "POST" || served === null) return Promise.resolve(null);
      const name = path.slice(1);
      if (name === DOCUMENT) {
        return Promise.resolve({ status: 200, type: "application/json", content: { bytes: served.document } });
      }
      const file = served.files.find((each) => each.name === name);
      if (file === undefined) return Promise.resolve(null);
      const type = name.endsWith(".sh") ? "text/x-shellscript; charset=utf-8" : "application/gzip";
      return holdsSize(kept(file), file).then((is) => is ? fileAnswer(kept(file), type) : NOT_FOUND);
    },
  };
}

async function holdsSize(path: string, file: ChannelFile): Promise<boolean> {
  return await stat(path).then(({ size }) => size === file.bytes, () => false);
}

/** Whether the file is here, byte for byte. */
async function holds(path: string, file: ChannelFile): Promise<boolean> {
  if (!await holdsSize(path, file)) return false;
  const hash = createHash("sha256");
  for await (const part of createReadStream(path)) hash.update(part);
  return hash.digest("hex") === file.sha256;
}
