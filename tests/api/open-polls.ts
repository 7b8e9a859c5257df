// Controls the timers of long polls. The timers never fire by themselves. So a test decides when a poll times out, and
// the speed of the machine does not matter.
import { vi } from "vitest";

const PATIENT = { timeout: 20_000 };

/**
 * From now on, a timer of exactly `hold_ms` does not fire. The returned function waits until the first such timer was
 * started, and returns a function that fires it.
 */
export function watchHold(hold_ms: number): () => Promise<() => void> {
  const start = globalThis.setTimeout;
  const found: (() => void)[] = [];
  vi.spyOn(globalThis, "setTimeout").mockImplementation(
    ((act: () => void, ms?: number, ...given: unknown[]) => {
      if (ms !== hold_ms) return Reflect.apply(start, globalThis, [act, ms, ...given]);
      found.push(act);
      return start(() => {}, 0);
    }) as typeof setTimeout, // The other members of Node's type are not used.
  );
  return () => vi.waitUntil(() => found[0], PATIENT);
}
