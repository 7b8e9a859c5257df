// Stores the data that the console has read from the server, by key. A reader holds an entry while the reader is on
// screen. When an object of a kind changes, the store reads the held entries of this kind again. It drops the other
// entries of this kind.
//
// Rules, each checked by a property test:
// - Only one read of an entry runs at a time.
// - A change that arrives during a read causes one further read.
// - The store reads only entries with readers. When the last reader of an entry leaves, the store aborts a running
//   read.
// - If a read fails, the entry keeps the last good data.
import { effect, type Signal, signal } from "@preact/signals";
import { type Refusal, refusalOf } from "./client.ts";
import type { Kind } from "./kinds.ts";

export type Read<T> = { readonly data?: T; readonly refusal?: Refusal; readonly busy: boolean };

export type Query<T> = {
  readonly key: string;
  /** The kinds of records that the data shows. A change of one of these kinds causes a new read. */
  readonly kinds: readonly Kind[];
  readonly read: (signal: AbortSignal) => Promise<T>;
  /**
   * Milliseconds for which the entry must stay on screen before it is read. A fast scroll passes many windows of a
   * list, and reads none of them.
   */
  readonly rest_ms?: number;
  /** Milliseconds after which the data is read again, even without a change. Default: FRESH_MS. */
  readonly fresh_ms?: number;
};

/** A reader's hold on an entry. */
export type Held<T> = { readonly state: Signal<Read<T>>; hold(): () => void };

/**
 * Data on screen is read again after this time, unless its query sets another time. The reason is that notifications of
 * changes can be lost.
 */
export const FRESH_MS = 30_000;
/**
 * The store keeps at most this many entries, unless more have readers. It drops entries without readers, the oldest
 * first.
 */
const KEPT_MAX = 500;

type Entry = {
  // The store holds queries of all types; each caller reads only the entry of its own query.
  readonly query: Query<unknown>;
  readonly state: Signal<Read<unknown>>;
  readers: number;
  running: AbortController | null;
  again: boolean;
  read_at: number;
};

export type Store = ReturnType<typeof createStore>;

/** @param now - Returns the time in milliseconds. */
export function createStore(now: () => number = Date.now) {
  const entries = new Map<string, Entry>();

  function entryOf(query: Query<unknown>): Entry {
    const known = entries.get(query.key);
    if (known !== undefined) return known;
    for (const [key, { readers }] of entries) {
      if (entries.size < KEPT_MAX) break;
      if (readers === 0) entries.delete(key);
    }
    const entry: Entry = { query, state: signal({ busy: true }), readers: 0, running: null, again: false, read_at: 0 };
    entries.set(query.key, entry);
    return entry;
  }

  async function load(entry: Entry): Promise<void> {
    if (entry.running !== null) {
      entry.again = true;
      return;
    }
    const running = entry.running = new AbortController();
    do {
      entry.again = false;
      try {
        const data = await entry.query.read(running.signal);
        if (running.signal.aborted) break;
        entry.read_at = now();
        entry.state.value = { data, busy: false };
      } catch (error) {
        if (running.signal.aborted) break;
        entry.read_at = now();
        entry.state.value = { ...entry.state.peek(), refusal: refusalOf(error), busy: false };
      }
    } while (entry.again && entry.readers > 0);
    if (entry.running === running) entry.running = null;
  }

  function release(entry: Entry): void {
    if (entry.readers > 0) return;
    entry.running?.abort();
    entry.running = null;
    if (entry.state.peek().data === undefined && entries.get(entry.query.key) === entry) {
      entries.delete(entry.query.key);
    }
  }

  /** Holds another entry and copies its state to `entry`, which is no longer in the store. */
  function follow(entry: Entry, other: Held<unknown>): () => void {
    const release = other.hold();
    const stop = effect(() => void (entry.state.value = other.state.value));
    return () => {
      stop();
      release();
    };
  }

  /**
   * Returns the entry of a query. `hold` reads the entry if its data is missing or too old, and returns the function
   * that ends the hold.
   */
  function open<T>(query: Query<T>): Held<T> {
    const entry = entryOf(query);
    const hold = (): () => void => {
      // A change may have dropped the entry since `open`. If the store has no other entry of the key, the entry returns
      // to the store with its data. Otherwise this reader holds the other entry and shows its data.
      const known = entries.get(query.key);
      if (known !== undefined && known !== entry) return follow(entry, open(known.query));
      entries.set(query.key, entry);
      entry.readers++;
      const isRead = entry.state.peek().data !== undefined && now() - entry.read_at < (query.fresh_ms ?? FRESH_MS);
      const rest = isRead || entry.running !== null
        ? undefined
        : setTimeout(() => void load(entry), query.rest_ms ?? 0);
      return () => {
        clearTimeout(rest);
        entry.readers--;
        // Releases the entry later, because another component may take a hold in the same render of the page.
        setTimeout(() => release(entry), 0);
      };
    };
    // The entry was created for this key, and a key always names data of one type.
    return { state: entry.state as Signal<Read<T>>, hold };
  }

  /** Reads the entries of these kinds again if they have readers, and drops them otherwise. "all" means all kinds. */
  function changed(kinds: ReadonlySet<string> | "all"): void {
    for (const [key, entry] of entries) {
      if (kinds !== "all" && !entry.query.kinds.some((kind) => kinds.has(kind))) continue;
      if (entry.readers > 0) {
        void load(entry);
        continue;
      }
      // Aborts a read that still runs, because the next reader begins a new one.
      entry.running?.abort();
      entry.running = null;
      entries.delete(key);
    }
  }

  /** Reads a held entry again if its data is older than `limit_ms`, or than the limit of its query. */
  function refresh(limit_ms = Infinity): void {
    for (const entry of entries.values()) {
      const limit = Math.min(limit_ms, entry.query.fresh_ms ?? FRESH_MS);
      if (entry.readers > 0 && entry.running === null && now() - entry.read_at >= limit) void load(entry);
    }
  }

  /** Drops all data, when a user signs in or out. */
  function clear(): void {
    for (const entry of entries.values()) {
      entry.running?.abort();
      entry.running = null;
      entry.state.value = { busy: true };
    }
    changed("all");
  }

  return { open, changed, refresh, clear, size: () => entries.size };
}

/** The store of this page. */
export const store = createStore();
