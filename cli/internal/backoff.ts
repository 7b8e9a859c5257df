// Computes delays before a retry, with jitter so that many callers do not retry at the same time.

/** Returns a delay between half and all of `base_ms`. `random` is between 0 and 1. */
export function jitteredMs(base_ms: number, random: number): number {
  return base_ms / 2 + (base_ms / 2) * random;
}

/** Returns a delay of at least `base_ms`, the delay that the server asked for. */
export function atLeastMs(base_ms: number, random: number): number {
  return base_ms + Math.min(1_000, base_ms / 4) * random;
}

/** Parses a Retry-After in seconds. Returns null for a date or any other text. */
export function retryAfterS(header: string | null): number | null {
  return header !== null && /^[0-9]{1,6}$/.test(header.trim()) ? Number(header) : null;
}
