// Collects the latest value of each key, and writes the values of many keys in one statement. A caller waits until its
// value, or a newer value of the same key, is committed. The writes of a batch run one after another, so an older value
// never overwrites a newer value of the same process.
import { isConnectionError, sqlState } from "./sql-error.ts";

export type BatchOptions = {
  /** Writes all entries in one statement. The write is repeated if its outcome is unknown, so it must be idempotent. */
  readonly write: (entries: readonly Entry[]) => Promise<unknown>;
  /** The time that the first entry of a batch waits for more entries. */
  readonly delay_ms: number;
  readonly entries_max?: number;
  readonly chars_max?: number;
};

export type Entry = { readonly key: string; readonly json: string };

export type SignalBatch = {
  /** Returns null when the batch is full and the entry was not added. Rejects when the write fails. */
  put(entry: Entry): Promise<void> | null;
  /** Writes the collected entries and waits for the write. */
  flush(): Promise<void>;
};

type Held = { json: string; readonly done: PromiseWithResolvers<void> };
type HeldEntry = Entry & Pick<Held, "done">;

const ENTRIES_MAX = 20_000;
const CHARS_MAX = 64 * 1_024 * 1_024;
const STATEMENT_ENTRIES_MAX = 256;
const STATEMENT_CHARS_MAX = 4 * 1_024 * 1_024;
const TRIES_MAX = 4;
const RETRY_MS = 100;

/**
 * SQLSTATEs to retry: deadlock_detected, lock_not_available, and foreign_key_violation, when the referenced row was
 * deleted concurrently.
 */
const RACES: ReadonlySet<string | undefined> = new Set(["40P01", "55P03", "23503"]);

export function createSignalBatch(options: BatchOptions): SignalBatch {
  const { write, delay_ms, entries_max = ENTRIES_MAX, chars_max = CHARS_MAX } = options;
  const held = new Map<string, Held>();
  let chars = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let flushing: Promise<void> | undefined;

  function put({ key, json }: Entry): Promise<void> | null {
    const present = held.get(key);
    const growth = json.length - (present?.json.length ?? 0);
    if (chars + growth > chars_max || (present === undefined && held.size >= entries_max)) return null;
    chars += growth;
    if (present !== undefined) {
      present.json = json;
      return present.done.promise;
    }
    const done = Promise.withResolvers<void>();
    done.promise.catch(() => {}); // Prevents an unhandled rejection if no caller waits.
    held.set(key, { json, done });
    timer ??= setTimeout(() => void flush(), delay_ms);
    return done.promise;
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (flushing === undefined && held.size > 0) flushing = drain();
    return flushing ?? Promise.resolve();
  }

  async function drain(): Promise<void> {
    while (held.size > 0) await writeEntries(write, takeSome());
    clearTimeout(timer); // The timer may have been set for an entry that is already written.
    timer = undefined;
    flushing = undefined;
  }

  function takeSome(): HeldEntry[] {
    const some: HeldEntry[] = [];
    let some_chars = 0;
    for (const [key, { json, done }] of held) {
      if (some.length > 0 && some_chars + json.length > STATEMENT_CHARS_MAX) break;
      held.delete(key);
      chars -= json.length;
      some_chars += json.length;
      if (some.push({ key, json, done }) === STATEMENT_ENTRIES_MAX) break;
    }
    return some;
  }

  return { put, flush };
}

/**
 * The classes of SQLSTATEs with which one entry can make the whole statement fail:
 * - 21: a row is written twice.
 * - 22: data exception.
 * - 23: integrity constraint violation.
 * - 54: program limit exceeded.
 */
const ENTRY_CLASSES: ReadonlySet<string | undefined> = new Set(["21", "22", "23", "54"]);

/**
 * Writes entries and settles the promise of each. Never rejects. If an entry makes the statement fail, writes the two
 * halves separately, so that in the end only this entry fails.
 */
async function writeEntries(write: BatchOptions["write"], entries: readonly HeldEntry[]): Promise<void> {
  for (let tries = 1;; tries++) {
    try {
      await write(entries);
      return entries.forEach(({ done }) => done.resolve());
    } catch (error) {
      if (isOfEntry(error) && entries.length > 1) {
        const half = entries.length >> 1;
        await writeEntries(write, entries.slice(0, half));
        return await writeEntries(write, entries.slice(half));
      }
      if (tries === TRIES_MAX || !(isConnectionError(error) || RACES.has(sqlState(error)))) {
        return entries.forEach(({ done }) => done.reject(error));
      }
      await new Promise((wake) => setTimeout(wake, tries * RETRY_MS));
    }
  }
}

/** Returns whether one entry may have caused the error. The other entries must not fail with this entry. */
function isOfEntry(error: unknown): boolean {
  const state = sqlState(error);
  return ENTRY_CLASSES.has(state?.slice(0, 2)) && !RACES.has(state);
}
