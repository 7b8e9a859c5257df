// Requests that the server holds, steered by their timer: it is noted and never fires by itself, so that what ends a
// hold is what the test does, on a machine of any speed.
import { vi } from "vitest";

const PATIENT = { timeout: 20_000 };

/** Watches for the timer of the next request that is held this long. The answer waits for it, and lets the time pass. */
export function watchHold(hold_ms: number): () => Promise<() => void> {
  const start = globalThis.setTimeout;
  const found: (() => void)[] = [];
  vi.spyOn(globalThis, "setTimeout").mockImplementation(
    ((act: () => void, ms?: number, ...given: unknown[]) => {
      if (ms !== hold_ms) return Reflect.apply(start, globalThis, [act, ms, ...given]);
      found.push(act);
      return start(() => {}, 0);
    }) as typeof setTimeout, // What Node's type has beside the call, nobody uses.
  );
  return () => vi.waitUntil(() => found[0], PATIENT);
}
