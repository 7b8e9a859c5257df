// What this client puts up with from an index and from vendors.

/** An index of every vendor is below a megabyte. */
export const INDEX_BYTES_MAX = 64 * 1024 * 1024;
/** No checksum document, signature or key comes near it. */
export const DOCUMENT_BYTES_MAX = 4 * 1024 * 1024;
/** For an image whose size nobody tells. */
export const IMAGE_BYTES_MAX = 256 * 1024 ** 3;
/** Tries in a row that bring nothing new. */
export const TRIES_MAX = 5;
export const FIRST_RETRY_MS = 500;
export const RETRY_MS_MAX = 10_000;

export type Patience = {
  /** Until the answer begins. */
  readonly answer_ms: number;
  /** Between two pieces of a body. */
  readonly stall_ms: number;
  /** For a whole document; an image may take as long as it keeps coming. */
  readonly document_ms: number;
};
export const PATIENCE: Patience = { answer_ms: 30_000, stall_ms: 60_000, document_ms: 120_000 };
