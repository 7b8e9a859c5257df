// Computes the SHA-256 of each upload while its parts arrive, so that finishing a large upload does not read it again.
// A stored part never changes, and every part before the last one has the full size. Therefore the digest of the first
// bytes stays valid. A process reads parts from the store if it has not seen them. This happens after a restart, if
// another process received the parts, or if the digest was dropped.
import { createHash, type Hash } from "node:crypto";
import { IMAGE_PART_BYTES } from "../contract/limits.ts";
import type { ImageStore } from "../image-store/store.ts";

export type UploadDigests = {
  /**
   * Adds a stored part to the digest. If earlier parts are missing in the digest, reads some of them from the store
   * first. If some are still missing then, `digest` reads this part later.
   */
  add(id: string, from: number, bytes: Uint8Array): Promise<void>;
  /** Returns the SHA-256 of the stored bytes in hexadecimal; null if some bytes are missing in the store. */
  digest(id: string, size_bytes: number): Promise<string | null>;
};

/**
 * The maximum number of missing parts that are read with each new part. Therefore the digest of an upload that
 * continues after a restart soon includes all stored parts.
 */
const CATCH_UP_PARTS_MAX = 8;
/** The maximum number of uploads whose digests are kept. The least recently used upload is dropped first. */
const UPLOADS_MAX = 1_000;

type Progress = { readonly hash: Hash; position: number; last: Promise<unknown> };

export function createUploadDigests(read: ImageStore["read"]): UploadDigests {
  const known = new Map<string, Progress>();

  /** Returns the progress of an upload, and marks it as the most recently used one. */
  function progressOf(id: string): Progress {
    const progress = known.get(id) ?? { hash: createHash("sha256"), position: 0, last: Promise.resolve() };
    known.delete(id);
    known.set(id, progress);
    const [oldest] = known.keys();
    if (known.size > UPLOADS_MAX) known.delete(oldest!);
    return progress;
  }

  /** Runs work on an upload after all earlier work on the same upload has ended. */
  function alone<T>(progress: Progress, work: () => Promise<T>): Promise<T> {
    const done = progress.last.then(work);
    progress.last = done.catch(() => {});
    return done;
  }

  /** Reads stored parts up to a position, at most `parts_max`. Returns false if a part is missing or too short. */
  async function catchUp(id: string, progress: Progress, to: number, parts_max: number): Promise<boolean> {
    for (let parts = 0; progress.position < to && parts < parts_max; parts += 1) {
      const bytes = await read(id, progress.position / IMAGE_PART_BYTES);
      const wanted = Math.min(IMAGE_PART_BYTES, to - progress.position);
      if (bytes === null || bytes.length < wanted) return false;
      progress.hash.update(bytes.subarray(0, wanted));
      progress.position += wanted;
    }
    return true;
  }

  return {
    add: async (id, from, bytes) => {
      const progress = progressOf(id);
      await alone(progress, async () => {
        // If some bytes cannot be read now, they are read when the upload is finished.
        await catchUp(id, progress, from, CATCH_UP_PARTS_MAX).catch(() => {});
        if (progress.position !== from) return;
        progress.hash.update(bytes);
        progress.position += bytes.length;
      });
    },
    digest: async (id, size_bytes) => {
      const progress = progressOf(id);
      return await alone(progress, async () => {
        const is_whole = await catchUp(id, progress, size_bytes, Infinity);
        return is_whole ? progress.hash.copy().digest("hex") : null;
      });
    },
  };
}
