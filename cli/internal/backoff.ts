// How long to wait before asking again. Always jittered, so that many callers do not come back at the same moment.

/** Between half and all of `base_ms`. */
export function jitteredMs(base_ms: number, random: number): number {
  return base_ms / 2 + (base_ms / 2) * random;
}

/** A little more than `base_ms`, never less: for a time the server asked for. */
export function atLeastMs(base_ms: number, random: number): number {
  return base_ms + Math.min(1_000, base_ms / 4) * random;
}

/** Retry-After in whole seconds; a date or anything else is ignored. */
export function retryAfterS(header: string | null): number | null {
  return header !== null && /^[0-9]{1,6}$/.test(header.trim()) ? Number(header) : null;
}
