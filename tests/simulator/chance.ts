// Makes random draws from a seed. A draw by `chance` or `pick` depends only on the seed and the purpose. So if a
// command is removed from a plan, the draws of the other commands stay the same.

/** Returns a 32-bit hash of the text. */
export function hash32(text: string, from = 0x811c9dc5): number {
  let hash = from;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Returns a number in [0, 1) for this seed and purpose. */
export function chance(seed: number, purpose: string): number {
  return hash32(purpose, seed ^ 0x811c9dc5) / 2 ** 32;
}

/** Returns a whole number in [0, below) for this seed and purpose. */
export function pick(seed: number, purpose: string, below: number): number {
  return Math.floor(chance(seed, purpose) * below);
}

/** Returns a stream of draws in [0, 1), for creating a plan. */
export function stream(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a UUIDv7 from a time (whole milliseconds) and 64 random bits, in two halves. */
export function seededId(ms: number, high: number, low: number): string {
  const time = hex(ms, 12);
  const chance = hex(high, 8);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${chance.slice(0, 3)}-8${chance.slice(3, 6)}-${chance.slice(4)}${
    hex(low, 8)
  }`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}
