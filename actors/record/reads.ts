// The queries that are the same for all records: one record by its id, a page of records in the order of ids, and a
// whole list with the oldest record first.
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Database } from "../../src/db/tables.ts";
import type { LabelFilter } from "../../src/contract/labels.ts";
import type { IdPage } from "../../src/lib/ids/page-token.ts";

type Db = Kysely<Database>;
type TableName = keyof Database & string;
type Row<T extends TableName, C extends keyof Database[T]> = Pick<Database[T], C>;

/** A query for one record by its id. `many` finds several: it returns a map from id to record, without missing ids. */
export type Find<V> = {
  (db: Db, id: string): Promise<V | undefined>;
  readonly many: (db: Db, ids: readonly string[]) => Promise<Map<string, V>>;
};

/** Makes the query for one record from the query for several records. */
export function finder<V>(many: Find<V>["many"]): Find<V> {
  return Object.assign(async (db: Db, id: string) => [...(await many(db, [id])).values()][0], { many });
}

/**
 * A page of a list. If labels are given, the page has only records with these labels, and the table must have the
 * column `labels`.
 */
export type LabeledPage = IdPage & { readonly labels?: LabelFilter | undefined };

/**
 * The maximum number of records that a whole list reads. If labels are given, the list has only records with these
 * labels.
 */
export type LabeledRows = Omit<LabeledPage, "after">;

/** The queries on the table of one kind of record. */
export type Reader<R, V> = {
  readonly find: Find<V>;
  /**
   * Lists the records with these values in the order of their ids. For ids that are UUIDv7, this is the order of
   * creation.
   */
  page(db: Db, filter: Partial<R>, at: LabeledPage): Promise<V[]>;
  /** Lists at most `rows` of the records with these values, oldest first. */
  oldestFirst(db: Db, filter: Partial<R>, at: LabeledRows): Promise<V[]>;
};

/**
 * Returns the queries on a table.
 * @param columns the columns that the view needs
 */
export function reader<T extends TableName, C extends keyof Database[T] & string, V>(
  table: T,
  columns: readonly C[],
  view: (row: Row<T, C>) => V,
): Reader<Database[T], V> {
  // Kysely has no type for a query on a table that is a type parameter. The parameters of `reader` check the types.
  type Standin = Kysely<{ record: { id: string; created_at: Date } }>;
  const select = (db: Db, filter: Partial<Database[T]>) =>
    (db as unknown as Standin).selectFrom(table as "record").select(columns as unknown as readonly "id"[])
      .where((eb) => eb.and(filter as { id?: string }));
  const views = (rows: readonly unknown[]) => rows.map((row) => view(row as Row<T, C>));
  return {
    find: finder(async (db, ids) => {
      const rows = await select(db, {}).where(sql<boolean>`id = any(${ids})`).execute();
      // The rows have the columns of `table`, not the columns of Standin.
      return new Map(rows.map((row) => [row.id, view(row as unknown as Row<T, C>)]));
    }),
    async page(db, filter, { after, rows, labels }) {
      const query = select(db, filter).orderBy("id").limit(rows)
        .$if(labels !== undefined, (q) => q.where(hasLabels("labels", labels!)));
      return views(await (after === undefined ? query : query.where("id", ">", after)).execute());
    },
    async oldestFirst(db, filter, { rows, labels }) {
      const query = select(db, filter).orderBy("created_at").orderBy("id").limit(rows)
        .$if(labels !== undefined, (q) => q.where(hasLabels("labels", labels!)));
      return views(await query.execute());
    },
  };
}

/** The version of a row. A change of the row changes at least one of the two values. */
type Version = { readonly version: number; readonly updated_at: Date };

/**
 * Makes the query for a large row that many requests need. Each call reads the version of the row. It reads the row
 * itself only if this process has not read this version yet.
 * @param version reads the version; undefined if the row is absent
 * @param whole reads the row with its version
 */
export function keptRow<V extends Version>(
  version: (db: Db) => Promise<Version | undefined>,
  whole: (db: Db) => Promise<V | undefined>,
): (db: Db) => Promise<V | undefined> {
  const kept = new WeakMap<Db, V>();
  return async (db) => {
    const now = await version(db);
    if (now === undefined) return undefined;
    const last = kept.get(db);
    if (last?.version === now.version && last.updated_at.getTime() === now.updated_at.getTime()) return last;
    const row = await whole(db);
    if (row !== undefined) kept.set(db, row);
    return row;
  };
}

/** Returns an expression for a bigint. A value above the greatest exact JSON number becomes that number. */
export function exactNumber(column: string) {
  return sql<number>`least(${sql.ref(column)}, ${sql.lit(Number.MAX_SAFE_INTEGER)})`;
}

/** Returns the condition that the labels in a column or expression match a filter. */
export function hasLabels(labels: string | RawBuilder<unknown>, filter: LabelFilter) {
  const column = typeof labels === "string" ? sql.ref(labels) : labels;
  const pairs = filter.filter(({ value }) => value !== null).map(({ key, value }) => [key, value]);
  return sql<boolean>`(${column} @> ${JSON.stringify(Object.fromEntries(pairs))}::jsonb
    and ${column} ?& ${filter.map(({ key }) => key)}::text[])`;
}
