// Deletes stored bytes that no upload and no image needs any more: the bytes of expired and cancelled uploads, and of
// deleted images. Bytes of an upload that this database never had stay: a server on an older copy of the database may
// use the same store.
import { findUnneededUploads } from "../../actors/image-upload/reads.ts";
import type { Db } from "../db/pool.ts";
import type { ImageStore } from "./store.ts";

/** Bytes that changed within this time stay, because a request may still be writing them. */
const UNNEEDED_MS = 60 * 60 * 1_000;

/** Returns the number of stored images that were deleted. */
export async function pruneImages(db: Db, store: ImageStore, now_ms: number): Promise<number> {
  const old = (await store.list()).filter(({ changed_at_ms }) => now_ms - changed_at_ms >= UNNEEDED_MS);
  if (old.length === 0) return 0;
  const unneeded = await findUnneededUploads(db.kysely, old.map(({ id }) => id));
  for (const id of unneeded) await store.remove(id);
  await db.query("delete from stored_upload where id = any($1)", [unneeded]);
  return unneeded.length;
}
