// Controls the timers of long polls. Timers are recorded and never fire by themselves: the test decides when a poll
// times out, whatever the speed of the machine.
import { vi } from "vitest";

const PATIENT = { timeout: 20_000 };

/**
 * Records the timers of long polls with this duration from now on. The returned function waits for the first one, and
 * returns a function that fires it.
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
