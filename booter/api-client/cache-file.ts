// Stores the cached boot records on disk. Only the booter's user may read the file, because it contains hashes of root
// passwords. An HMAC detects a damaged or modified file, which is then ignored.
import { createHmac, timingSafeEqual } from "node:crypto";
import { Buffer } from "node:buffer";
import { readOwn, writeDurably } from "../private-file.ts";
import { bootFacts } from "./wire.ts";
import type { CachedRecord } from "./records.ts";

export function cachePath(state_dir: string): string {
  return `${state_dir}/records.json`;
}

export async function saveCache(path: string, secret: Uint8Array, records: readonly CachedRecord[]): Promise<void> {
  const body = JSON.stringify(records);
  await writeDurably(path, `${seal(secret, body)}\n${body}\n`);
}

/** Loads the cached records. Returns null if the file is damaged, and an empty list if it does not exist. */
export async function loadCache(path: string, secret: Uint8Array): Promise<readonly CachedRecord[] | null> {
  const text = await readOwn(path);
  if (text === null) return [];
  const [given = "", body = ""] = text.split("\n");
  const [stored, made] = [Buffer.from(given), Buffer.from(seal(secret, body))];
  if (stored.length !== made.length || !timingSafeEqual(stored, made)) return null;
  try {
    const records = JSON.parse(body) as { facts: unknown; verified_at: number }[];
    return records.map(({ facts, verified_at }) => ({ facts: bootFacts(facts), verified_at: Number(verified_at) }));
  } catch {
    return null;
  }
}

function seal(secret: Uint8Array, body: string): string {
  return createHmac("sha256", secret).update(`records ${body}`).digest("hex");
}
