// Limits on the responses of an index and of vendors.

/** The largest document of an index. An index of all vendors has less than a megabyte. */
export const INDEX_BYTES_MAX = 64 * 1024 * 1024;
/** The largest image file that a download accepts. */
export const IMAGE_BYTES_MAX = 256 * 1024 ** 3;
/**
 * A download fails after TRIES_MAX consecutive attempts without progress. The pause before another attempt grows with
 * each of these attempts, from FIRST_RETRY_MS up to RETRY_MS_MAX.
 */
export const TRIES_MAX = 5;
export const FIRST_RETRY_MS = 500;
export const RETRY_MS_MAX = 10_000;

export type Patience = {
  /** Time limit until the response begins. */
  readonly answer_ms: number;
  /** Time limit between two chunks of a body. */
  readonly stall_ms: number;
  /** Time limit for a complete document. An image has no such limit while bytes arrive. */
  readonly document_ms: number;
};
export const PATIENCE: Patience = { answer_ms: 30_000, stall_ms: 60_000, document_ms: 120_000 };
