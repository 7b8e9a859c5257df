// Concurrent look-ups share one query. Results are not cached: each result comes from a query that began after the
// call, so every process rejects a revoked key at once. If no query is running, a call begins a query in the same turn
// of the event loop. While a query is running, all further callers share the next query. Therefore a query serves more
// callers when the load grows, and a single caller does not wait.

type Wanted<Row> = {
  readonly promise: Promise<Row | null>;
  readonly resolve: (row: Row | null) => void;
  readonly reject: (error: unknown) => void;
};

/** The longest time that callers wait for a running query. After this time, their query begins in parallel. */
const WAIT_MAX_MS = 10;
/** The maximum number of keys in a query. A larger answer would delay the other answers of its connection. */
const KEYS_MAX = 128;

/**
 * Creates a look-up by text key. It returns null if the query finds no row. A failed query rejects all callers that
 * share it.
 */
export function createLookup<Row>(query: (keys: readonly string[]) => Promise<ReadonlyMap<string, Row>>) {
  let waiting = new Map<string, Wanted<Row>>();
  let running = 0;
  let isScheduled = false;
  let patience: ReturnType<typeof setTimeout> | undefined;

  async function lookUpAll(): Promise<void> {
    clearTimeout(patience);
    patience = undefined;
    isScheduled = false;
    const all = [...waiting];
    const batch = new Map(all.slice(0, KEYS_MAX));
    waiting = new Map(all.slice(KEYS_MAX));
    // The callers that did not fit into the query wait at most WAIT_MAX_MS, like callers that arrive now.
    if (waiting.size > 0) patience = setTimeout(lookUpSoon, WAIT_MAX_MS);
    running += 1;
    try {
      const found = await query([...batch.keys()]);
      for (const [key, { resolve }] of batch) resolve(found.get(key) ?? null);
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    }
    running -= 1;
    if (waiting.size > 0) lookUpSoon();
  }

  function lookUpSoon(): void {
    if (isScheduled) return;
    isScheduled = true;
    // All callers of this turn of the event loop share the query.
    setImmediate(() => void lookUpAll());
  }

  return function find(key: string): Promise<Row | null> {
    const present = waiting.get(key);
    if (present !== undefined) return present.promise;
    const wanted = Promise.withResolvers<Row | null>();
    waiting.set(key, wanted);
    if (running === 0) lookUpSoon();
    else patience ??= setTimeout(lookUpSoon, WAIT_MAX_MS);
    return wanted.promise;
  };
}
