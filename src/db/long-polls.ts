// Requests that wait for something to change. One query answers for all of them, every 250 ms and at once when a hint
// comes, so that ten thousand held requests cost four queries a second. The query is the truth, a hint only its haste.
export type LongPollsOptions<K, V> = {
  /** The answers there are for these keys; a key without one goes on waiting. */
  readonly sweep: (keys: K[]) => Promise<ReadonlyMap<K, V>>;
  readonly every_ms?: number;
  /** Beyond this many waiting requests the next is refused. */
  readonly held_max: number;
  /** Told of a sweep that failed; the next one tries again. */
  readonly report: (message: string, error: unknown) => void;
};

export type LongPolls<K, V> = {
  /** The answer; null when `hold_ms` has passed or the signal was aborted; "full" when nobody more can wait. */
  wait(key: K, hold_ms: number, signal: AbortSignal): Promise<V | null | "full">;
  /** Looks at once, or when the last look is a moment ago. Calls in between become one look. */
  nudge(): void;
  held(): number;
  /** Ends every wait with null; later ones end at once. */
  close(): void;
};

type Waiter<V> = (answer: V | null) => void;

/** Architecture, section 2, Hints. */
const EVERY_MS = 250;
/** Between two sweeps, however many hints come. */
const REST_MS = 10;

export function createLongPolls<K extends string | number, V extends object>(
  options: LongPollsOptions<K, V>,
): LongPolls<K, V> {
  const { sweep, every_ms = EVERY_MS, held_max, report } = options;
  const waiters = new Map<K, Set<Waiter<V>>>();
  let held = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sweeping = false;
  let nudged = false;
  let rested_at = 0;
  let closed = false;

  function lookIn(wait_ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => void look(), wait_ms);
  }

  async function look(): Promise<void> {
    sweeping = true;
    nudged = false;
    await sweepOnce();
    sweeping = false;
    rested_at = performance.now() + REST_MS;
    if (held > 0) lookIn(nudged ? REST_MS : every_ms);
  }

  function nudge(): void {
    if (held === 0 || nudged) return;
    nudged = true;
    if (!sweeping) lookIn(Math.max(0, rested_at - performance.now()));
  }

  async function sweepOnce(): Promise<void> {
    const keys = [...waiters.keys()];
    if (keys.length === 0) return;
    try {
      for (const [key, answer] of await sweep(keys)) answerAll(key, answer);
    } catch (error) {
      report("a sweep for held requests failed", error);
    }
  }

  function answerAll(key: K, answer: V | null): void {
    for (const answerOne of waiters.get(key) ?? []) answerOne(answer);
  }

  function wait(key: K, hold_ms: number, signal: AbortSignal): Promise<V | null | "full"> {
    if (closed || signal.aborted) return Promise.resolve(null);
    if (held >= held_max) return Promise.resolve("full");
    return new Promise((resolve) => {
      const same = waiters.get(key) ?? new Set();
      const end: Waiter<V> = (answer) => {
        clearTimeout(limit);
        signal.removeEventListener("abort", abort);
        same.delete(end);
        held--;
        if (same.size === 0) waiters.delete(key);
        if (held === 0) {
          clearTimeout(timer);
          nudged = false;
        }
        resolve(answer);
      };
      const abort = () => end(null);
      const limit = setTimeout(abort, hold_ms);
      signal.addEventListener("abort", abort);
      waiters.set(key, same.add(end));
      if (++held === 1 && !sweeping) lookIn(every_ms);
    });
  }

  return {
    wait,
    nudge,
    held: () => held,
    close: () => {
      closed = true;
      for (const key of [...waiters.keys()]) answerAll(key, null);
    },
  };
}
