// Deletes stored bytes that no upload and no image needs any more: the bytes of expired and cancelled uploads, and of
// deleted images. A server on another copy of the database may use the same store. So bytes of uploads that this
// database never had are kept. The table stored_upload has the uploads of this database; a row stays until its bytes
// are deleted.
import { findUnneededUploads } from "../../actors/image-upload/reads.ts";
import type { Db } from "../db/pool.ts";
import type { ImageStore } from "./store.ts";

/** Bytes that changed within this time are kept, because a request may still be writing them. */
const UNNEEDED_MS = 60 * 60 * 1_000;
/**
 * The maximum number of rows that one pass marks, and the maximum number of marked rows that it checks. These limits
 * keep a pass short.
 */
const ROWS_MAX = 10_000;

/** Marks the rows that nothing needs any more. */
const MARK = `
  update stored_upload set unneeded_at = (select berth_now()) where id in (
    select s.id from stored_upload s
     where s.unneeded_at is null
       and not exists (select from image_upload u where u.id = s.id)
       and not exists (select from image m where m.source_url = 'berth:' || s.id)
     limit $1)`;

/** The marked rows to whose uploads no request can still write bytes. */
const ENDED = `select id from stored_upload where unneeded_at < (select berth_now()) - $1 * interval '1 ms' limit $2`;

/**
 * Returns the number of stored images that were deleted. Throws after the pass if the store did not delete some images.
 */
export async function pruneImages(db: Db, store: ImageStore, now_ms: number): Promise<number> {
  await db.query(MARK, [ROWS_MAX]);
  // The store is listed after the rows were read. So a row without bytes in the list will never have bytes.
  const { rows: ended } = await db.query<{ id: string }>(ENDED, [UNNEEDED_MS, ROWS_MAX]);
  const stored = await store.list();
  const withBytes = new Set(stored.map(({ id }) => id));
  const withoutBytes = ended.map(({ id }) => id).filter((id) => !withBytes.has(id));
  const old = stored.filter(({ changed_at_ms }) => now_ms - changed_at_ms >= UNNEEDED_MS).map(({ id }) => id);
  const unneeded = old.length === 0 ? [] : await findUnneededUploads(db.kysely, old);
  const removed: string[] = [];
  const failures: unknown[] = [];
  for (const id of unneeded) {
    await store.remove(id).then(() => removed.push(id), (error) => failures.push(error));
  }
  await db.query("delete from stored_upload where id = any($1)", [[...removed, ...withoutBytes]]);
  if (failures.length > 0) {
    throw new Error(`Images that the store did not delete: ${failures.length}`, { cause: failures[0] });
  }
  return removed.length;
}
