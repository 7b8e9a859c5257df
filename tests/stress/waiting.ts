// Waits in stress tests: for a time, for a condition, or for a check that finds nothing.

/** `limit_ms` is the maximum time, `look_ms` the time between two checks. */
export type Wait = { readonly limit_ms: number; readonly look_ms?: number };

const LOOK_MS = 250;

export function sleep(duration_ms: number): Promise<void> {
  return new Promise((wake) => setTimeout(wake, duration_ms));
}

/** Waits for a condition. Returns whether it became true within the limit. */
export async function until(
  check: () => boolean | Promise<boolean>,
  { limit_ms, look_ms = LOOK_MS }: Wait,
): Promise<boolean> {
  for (const end = performance.now() + limit_ms;;) {
    if (await check()) return true;
    if (performance.now() > end) return false;
    await sleep(look_ms);
  }
}

/**
 * Repeats a check until the check finds nothing or the time limit passes; returns what the last check found. Repeating
 * is needed because some audit entries are chained a little after their commit.
 */
export async function untilEmpty(
  check: () => Promise<string[]>,
  { limit_ms, look_ms = LOOK_MS }: Wait,
): Promise<string[]> {
  let found: string[] = [];
  await until(async () => (found = await check()).length === 0, { limit_ms, look_ms });
  return found;
}
