// Keeps the last bytes of a console. Each byte is addressed by its position since the beginning of the console. Readers
// keep a position and read at their own speed. A slow reader misses the oldest bytes, and no reader needs a buffer of
// its own.
import { CONSOLE_LOG_BYTES_MAX } from "../../src/contract/limits.ts";

export type Feed = {
  append(bytes: Uint8Array): void;
  /** The position of the oldest byte that is kept. */
  start(): number;
  /** The position after the newest byte. */
  end(): number;
  /** Returns a copy of at most `bytes_max` bytes from a position between `start` and `end`. */
  read(from: number, bytes_max: number): Uint8Array;
};

export function createFeed(capacity: number = CONSOLE_LOG_BYTES_MAX): Feed {
  const ring = new Uint8Array(capacity);
  let end = 0;
  const start = () => Math.max(0, end - capacity);
  return {
    start,
    end: () => end,
    append: (bytes) => {
      // Only the last `capacity` bytes of a long piece remain.
      const kept = bytes.subarray(Math.max(0, bytes.length - capacity));
      const at = (end + bytes.length - kept.length) % capacity;
      const first = kept.subarray(0, capacity - at);
      ring.set(first, at);
      ring.set(kept.subarray(first.length), 0);
      end += bytes.length;
    },
    read: (from, bytes_max) => {
      const at = from % capacity;
      const length = Math.min(bytes_max, end - from, capacity - at);
      return ring.slice(at, at + length);
    },
  };
}
