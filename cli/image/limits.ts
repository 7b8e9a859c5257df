// Limits on data from an index and from vendors.

/** An index of all vendors is smaller than a megabyte. */
export const INDEX_BYTES_MAX = 64 * 1024 * 1024;
/** Checksum documents, signatures and keys are much smaller. */
export const DOCUMENT_BYTES_MAX = 4 * 1024 * 1024;
/** For an image of unknown size. */
export const IMAGE_BYTES_MAX = 256 * 1024 ** 3;
/** Consecutive tries without new bytes. */
export const TRIES_MAX = 5;
export const FIRST_RETRY_MS = 500;
export const RETRY_MS_MAX = 10_000;

export type Patience = {
  /** Until the response starts. */
  readonly answer_ms: number;
  /** Between two chunks of a body. */
  readonly stall_ms: number;
  /** For a whole document. An image has no such limit, only stall_ms. */
  readonly document_ms: number;
};
export const PATIENCE: Patience = { answer_ms: 30_000, stall_ms: 60_000, document_ms: 120_000 };
