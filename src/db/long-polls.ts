// Holds long polls, which are requests that wait for a change. One query (a sweep) serves all long polls of one kind.
// It runs every 250 ms, so ten thousand long polls of a kind cost four queries a second. A hint (hints.ts) only makes
// the next sweep earlier. If this process itself commits a change, it can answer without a sweep (`answer`), because it
// knows what it wrote.
export type LongPollsOptions<K, V> = {
  /** Returns the answers for these keys; a key without an answer keeps waiting. */
  readonly sweep: (keys: K[]) => Promise<ReadonlyMap<K, V>>;
  readonly every_ms?: number;
  /** The maximum number of requests that may wait. Further requests get "full". */
  readonly held_max: number;
  /** Receives the error of a failed sweep; the next sweep retries. */
  readonly report: (message: string, error: unknown) => void;
};

export type LongPolls<K, V> = {
  /**
   * Returns the answer. Returns null if `hold_ms` has passed or the signal was aborted, and "full" if too many requests
   * wait.
   */
  wait(key: K, hold_ms: number, signal: AbortSignal): Promise<V | null | "full">;
  /**
   * Answers the requests that wait for this key, without a sweep. If no request waits, the answer is kept for EARLY_MS
   * for the next request with this key, which may have read the database before the change.
   */
  answer(key: K, answer: V): void;
  /**
   * If requests wait, starts a sweep as soon as 10 ms have passed since the last sweep. Further calls until then share
   * the new sweep. A request that begins to wait within HINT_AGE_MS after the call also gets an early sweep.
   */
  nudge(): void;
  held(): number;
  /** Ends every wait with null. A wait that begins later ends at once. */
  close(): void;
};

type Waiter<V> = (answer: V | null) => void;

/** The pause between two sweeps of waiting requests. A hint may be lost, so requests do not depend on hints. */
const EVERY_MS = 250;
/** The shortest time between two sweeps. */
const REST_MS = 10;
/**
 * A request that begins to wait within this time after a hint may have read the database before the change that caused
 * the hint.
 */
const HINT_AGE_MS = 100;
/** How long an answer is kept for a request that begins to wait later, and how many answers are kept. */
const EARLY_MS = 500;
const EARLY_MAX = 1_000;

export function createLongPolls<K extends string | number, V extends object>(
  options: LongPollsOptions<K, V>,
): LongPolls<K, V> {
  const { sweep, every_ms = EVERY_MS, held_max, report } = options;
  const waiters = new Map<K, Set<Waiter<V>>>();
  /** Answers that no request waited for, oldest first. */
  const early = new Map<K, { readonly answer: V; readonly until_ms: number }>();
  let held = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sweeping = false;
  let nudged = false;
  let rested_at = 0;
  let hinted_ms = -Infinity;
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
    hinted_ms = performance.now();
    sweepSoon();
  }

  function sweepSoon(): void {
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
      report("the query for long polls failed", error);
    }
  }

  function answerAll(key: K, answer: V | null): void {
    for (const answerOne of waiters.get(key) ?? []) answerOne(answer);
  }

  function answer(key: K, value: V): void {
    if (waiters.has(key)) return answerAll(key, value);
    early.delete(key);
    early.set(key, { answer: value, until_ms: performance.now() + EARLY_MS });
    const [oldest] = early.keys();
    if (early.size > EARLY_MAX && oldest !== undefined) early.delete(oldest);
  }

  function takeEarly(key: K): V | null {
    const found = early.get(key);
    early.delete(key);
    return found !== undefined && found.until_ms > performance.now() ? found.answer : null;
  }

  function wait(key: K, hold_ms: number, signal: AbortSignal): Promise<V | null | "full"> {
    if (closed || signal.aborted) return Promise.resolve(null);
    const known = takeEarly(key);
    if (known !== null) return Promise.resolve(known);
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
      held++;
      if (performance.now() - hinted_ms < HINT_AGE_MS) sweepSoon();
      else if (held === 1 && !sweeping) lookIn(every_ms);
    });
  }

  return {
    wait,
    answer,
    nudge,
    held: () => held,
    close: () => {
      closed = true;
      for (const key of [...waiters.keys()]) answerAll(key, null);
    },
  };
}
