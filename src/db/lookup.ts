// Concurrent look-ups share one query. Results are not cached: each result comes from a query that began after the
// call, so every process rejects a revoked key at once. A statement costs more than the rows it returns, so concurrent
// callers wait up to 10 ms to share one; a single caller does not wait.

type Wanted<Row> = {
  readonly promise: Promise<Row | null>;
  readonly resolve: (row: Row | null) => void;
  readonly reject: (error: unknown) => void;
};

/** The shortest time between the starts of two queries, once a query served several callers. */
const REST_MS = 10;

/**
 * Creates a look-up by text key. It returns null if the query finds no row. A failed query rejects all callers that
 * share it.
 */
export function createLookup<Row>(query: (keys: readonly string[]) => Promise<ReadonlyMap<string, Row>>) {
  let waiting = new Map<string, Wanted<Row>>();
  let crowded_until_ms = 0;

  async function lookUpAll(): Promise<void> {
    const batch = waiting;
    waiting = new Map();
    crowded_until_ms = batch.size > 1 ? performance.now() + REST_MS : 0;
    try {
      const found = await query([...batch.keys()]);
      for (const [key, { resolve }] of batch) resolve(found.get(key) ?? null);
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    }
  }

  function lookUpSoon(): void {
    const rest_ms = crowded_until_ms - performance.now();
    if (rest_ms > 0) setTimeout(() => void lookUpAll(), rest_ms);
    else setImmediate(() => void lookUpAll());
  }

  return function find(key: string): Promise<Row | null> {
    const present = waiting.get(key);
    if (present !== undefined) return present.promise;
    if (waiting.size === 0) lookUpSoon();
    const wanted = Promise.withResolvers<Row | null>();
    waiting.set(key, wanted);
    return wanted.promise;
  };
}
