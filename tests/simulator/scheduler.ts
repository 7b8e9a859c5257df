// Simulates time. Entries run in the order of their times, and in the order of scheduling when times are equal. Between
// two entries, all code that waits for settled promises runs.

export type Scheduler = ReturnType<typeof createScheduler>;

type Entry = { readonly at_ms: number; readonly order: number; readonly run: () => void };

/** The number of awaits after each entry. The engine never has so many awaits in a row without a timer. */
const TURNS = 24;

/** @param start_ms the first moment, in milliseconds since 1970 */
export function createScheduler(start_ms: number) {
  const heap: Entry[] = [];
  let now_ms = start_ms;
  let arranged = 0;

  /**
   * Schedules `run` after this many virtual milliseconds, rounded to a whole number: the virtual clock has no
   * fractions.
   */
  function after(ms: number, run: () => void): void {
    const entry = { at_ms: now_ms + Math.round(ms), order: arranged++, run };
    heap.push(entry);
    for (let index = heap.length - 1; index > 0;) {
      const parent = (index - 1) >> 1;
      if (!before(heap[index]!, heap[parent]!)) break;
      swap(index, parent);
      index = parent;
    }
  }

  function before(a: Entry, b: Entry): boolean {
    return a.at_ms < b.at_ms || (a.at_ms === b.at_ms && a.order < b.order);
  }

  function swap(a: number, b: number): void {
    const kept = heap[a]!;
    heap[a] = heap[b]!;
    heap[b] = kept;
  }

  function next(): Entry | undefined {
    const [top] = heap;
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    heap[0] = last;
    for (let index = 0;;) {
      const left = 2 * index + 1;
      if (left >= heap.length) return top;
      const least = left + 1 < heap.length && before(heap[left + 1]!, heap[left]!) ? left + 1 : left;
      if (!before(heap[least]!, heap[index]!)) return top;
      swap(index, least);
      index = least;
    }
  }

  /**
   * Runs entries until none is left. Throws after `entries_max`, because entries then probably schedule each other
   * forever.
   */
  async function run(entries_max: number): Promise<void> {
    for (let done = 0; done < entries_max; done += 1) {
      const entry = next();
      if (entry === undefined) return;
      now_ms = Math.max(now_ms, entry.at_ms);
      entry.run();
      for (let turn = 0; turn < TURNS; turn += 1) await null;
    }
    throw new Error(`still not at rest after ${entries_max} steps`);
  }

  return { after, run, now_ms: () => now_ms, now: () => new Date(now_ms) };
}
