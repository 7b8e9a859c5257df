// Look-ups that arrive together are one query. Nothing is kept, so that what was revoked is refused by every process at
// once: an answer is always of a query that began after it was asked for. A statement costs the database and us more than
// the rows it finds, so a crowd waits a moment to become one; a caller alone never does.

type Wanted<Row> = {
  readonly promise: Promise<Row | null>;
  readonly resolve: (row: Row | null) => void;
  readonly reject: (error: unknown) => void;
};

/** Between the starts of two queries while callers come in crowds. */
const REST_MS = 10;

/** Makes a look-up by text; null where the query finds nothing. A query that fails, fails all that wait for it. */
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
