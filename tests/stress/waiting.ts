// How a trial waits: for a while, for something to be so, for a check that finds nothing any more.

/** `limit_ms`: how long at most. `look_ms`: how long from one look to the next. */
export type Wait = { readonly limit_ms: number; readonly look_ms?: number };

const LOOK_MS = 250;

export function sleep(duration_ms: number): Promise<void> {
  return new Promise((wake) => setTimeout(wake, duration_ms));
}

/** Whether it became so within the limit. */
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

/** What the check still finds after the limit: what commits beside a running transaction is chained a moment later. */
export async function untilEmpty(
  check: () => Promise<string[]>,
  { limit_ms, look_ms = LOOK_MS }: Wait,
): Promise<string[]> {
  let found: string[] = [];
  await until(async () => (found = await check()).length === 0, { limit_ms, look_ms });
  return found;
}
