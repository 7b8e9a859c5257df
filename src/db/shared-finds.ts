// Finds one row by its id, on the connections of key-reads.ts. Requests that arrive together share one statement
// (lookup.ts), because a statement costs much more than the rows that it returns.
import type { Kysely } from "kysely";
import { createLookup } from "./lookup.ts";
import type { DbClient } from "./pool.ts";
import type { Database } from "./tables.ts";

/** A query for records by their ids. Returns the records that exist, by id in lower case. */
export type FindMany<V> = (db: Kysely<Database>, ids: readonly string[]) => Promise<ReadonlyMap<string, V>>;

/**
 * Finds one record, or null.
 * @param id a UUID in lower case; with any other text, all requests that share the statement fail
 */
export type FindOne = <V>(find: { readonly many: FindMany<V> }, id: string) => Promise<V | null>;

/**
 * Finds one row, or null.
 * @param sql selects the rows with `= any($1)`, and the id of each as `found_id`, which is removed from the row
 * @param id a UUID in lower case
 */
export type FindRow = <R extends object>(sql: string, id: string) => Promise<R | null>;

/**
 * Returns a function that makes the value of each key once and keeps it. Values are never dropped, because there is
 * only one key for each query in the code.
 */
function memo<K, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>();
  return (key) => {
    const present = made.get(key);
    if (present !== undefined) return present;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}

export function createFindOne(db: Kysely<Database>): FindOne {
  const lookupOf = memo((many: FindMany<unknown>) => createLookup((ids) => many(db, ids)));
  return <V>({ many }: { readonly many: FindMany<V> }, id: string) => lookupOf(many)(id) as Promise<V | null>;
}

export function createFindRow(db: Pick<DbClient, "query">): FindRow {
  const lookupOf = memo((sql: string) =>
    createLookup(async (ids) => {
      const { rows } = await db.query<{ found_id: string }>(sql, [ids]);
      return new Map(rows.map(({ found_id, ...row }) => [found_id, row]));
    })
  );
  return <R extends object>(sql: string, id: string) => lookupOf(sql)(id) as Promise<R | null>;
}
