// Returns the rows of a database as text. Tests search this text, or compare it before and after an action.
import type { Db } from "../../src/db/pool.ts";

export type Dump = ReadonlyMap<string, readonly string[]>;

/** Returns every row as JSON, sorted within its table. Omits the tables in `except`. */
export async function dumpTables(db: Db, except: readonly string[] = []): Promise<Dump> {
  const { rows } = await db.query<{ name: string }>(
    `select c.relname as name from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname <> all($1) order by c.relname`,
    [except],
  );
  const dump = new Map<string, string[]>(rows.map(({ name }) => [name, []]));
  const each = rows.map(({ name }) => `select '${name}' as name, row_to_json(t)::text as row from ${name} t`);
  const found = await db.query<{ name: string; row: string }>(each.join(" union all "));
  for (const { name, row } of found.rows) dump.get(name)?.push(row);
  for (const own of dump.values()) own.sort();
  return dump;
}

/**
 * Returns "- table: row" for each row that is only in `before`, and "+ table: row" for each row that is only in
 * `after`. Omits the tables in `except`.
 */
export function changedRows(before: Dump, after: Dump, except: readonly string[] = []): string[] {
  const changes: string[] = [];
  for (const table of new Set([...before.keys(), ...after.keys()])) {
    if (except.includes(table)) continue;
    const [old, now] = [new Set(before.get(table)), new Set(after.get(table))];
    changes.push(...[...old.difference(now)].map((row) => `- ${table}: ${row}`));
    changes.push(...[...now.difference(old)].map((row) => `+ ${table}: ${row}`));
  }
  return changes;
}

/** Returns the names of the tables that have a row with this text. */
export function tablesWith(dump: Dump, text: string): string[] {
  return [...dump].filter(([, rows]) => rows.some((row) => row.includes(text))).map(([table]) => table);
}
