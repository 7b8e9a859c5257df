// What a database holds, as text: to look for what must not be there, and to compare before and after.
import type { Db } from "../../src/db/pool.ts";

export type Dump = ReadonlyMap<string, readonly string[]>;

/** Every row of every table, as PostgreSQL writes it, sorted within its table. Tables named are left out. */
export async function dumpTables(db: Db, except: readonly string[] = []): Promise<Dump> {
  const { rows } = await db.query<{ name: string }>(
    `select c.relname as name from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname <> all($1) order by c.relname`,
    [except],
  );
  const dump = new Map<string, string[]>();
  for (const { name } of rows) {
    const found = await db.query<{ row: string }>(`select row_to_json(t)::text as row from ${name} t order by 1`);
    dump.set(name, found.rows.map(({ row }) => row));
  }
  return dump;
}

/** The rows that were added, removed or changed, as "+ table: row" and "- table: row". Tables named are left out. */
export function changedRows(before: Dump, after: Dump, except: readonly string[] = []): string[] {
  const changes: string[] = [];
  for (const table of new Set([...before.keys(), ...after.keys()])) {
    if (except.includes(table)) continue;
    const [old, now] = [before.get(table) ?? [], after.get(table) ?? []];
    changes.push(...old.filter((row) => !now.includes(row)).map((row) => `- ${table}: ${row}`));
    changes.push(...now.filter((row) => !old.includes(row)).map((row) => `+ ${table}: ${row}`));
  }
  return changes;
}

/** The tables whose rows contain a text. */
export function tablesWith(dump: Dump, text: string): string[] {
  return [...dump].filter(([, rows]) => rows.some((row) => row.includes(text))).map(([table]) => table);
}
