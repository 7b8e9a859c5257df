// Look-ups of credentials that arrive together are one query. Nothing is kept, so that what was revoked is refused by
// every process at once.

/** Makes a look-up by text; null where the query finds nothing. A query that fails, fails all that wait for it. */
export function createLookup<Row>(query: (keys: readonly string[]) => Promise<ReadonlyMap<string, Row>>) {
  type Wanted = {
    readonly promise: Promise<Row | null>;
    readonly resolve: (row: Row | null) => void;
    readonly reject: (error: unknown) => void;
  };
  let waiting = new Map<string, Wanted>();

  async function lookUpAll(): Promise<void> {
    const batch = waiting;
    waiting = new Map();
    try {
      const found = await query([...batch.keys()]);
      for (const [key, { resolve }] of batch) resolve(found.get(key) ?? null);
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    }
  }

  return function find(key: string): Promise<Row | null> {
    const present = waiting.get(key);
    if (present !== undefined) return present.promise;
    if (waiting.size === 0) setImmediate(() => void lookUpAll());
    const wanted = Promise.withResolvers<Row | null>();
    waiting.set(key, wanted);
    return wanted.promise;
  };
}
