// Keeps the last output of a VM's serial console in memory. The output is not written to disk, because a tenant could
// fill the disk.

/** Bytes of output that are kept for each VM. */
export const CONSOLE_RING_BYTES = 2 ** 20;
/** Minimum size of a ring after its first output. It is small, because most consoles have little output. */
const START_BYTES = 4_096;

export type ConsoleRing = {
  append(bytes: Uint8Array): void;
  /** Returns a copy of the kept output, oldest byte first. */
  content(): Uint8Array;
};

/** Creates a ring. Its memory grows with the output, up to `capacity` bytes. */
export function createConsoleRing(capacity: number = CONSOLE_RING_BYTES): ConsoleRing {
  let buffer = new Uint8Array(0);
  /** Position of the next byte, and the number of kept bytes before it. */
  let end = 0;
  let kept = 0;

  function content(): Uint8Array {
    const start = end - kept;
    if (start >= 0) return buffer.slice(start, end);
    const whole = new Uint8Array(kept);
    whole.set(buffer.subarray(buffer.length + start));
    whole.set(buffer.subarray(0, end), -start);
    return whole;
  }

  function grow(wanted: number): void {
    const larger = new Uint8Array(Math.min(capacity, Math.max(wanted, buffer.length * 2, START_BYTES)));
    larger.set(content());
    buffer = larger;
    end = kept;
  }

  return {
    append: (bytes) => {
      const last = bytes.subarray(Math.max(0, bytes.length - capacity));
      if (kept + last.length > buffer.length && buffer.length < capacity) grow(kept + last.length);
      const until_wrap = last.subarray(0, buffer.length - end);
      buffer.set(until_wrap, end);
      buffer.set(last.subarray(until_wrap.length), 0);
      end += last.length;
      if (end > buffer.length) end -= buffer.length;
      kept = Math.min(kept + last.length, buffer.length);
    },
    content,
  };
}
