// Updates the functions and triggers of a database to the files in migrations/functions: applies all files whose
// checksum changed, in one transaction. A release never replaces the functions of a later release, because both share a
// database during a deploy.
import type { SqlFile } from "./migration-files.ts";
import type { Connection } from "./pool.ts";

export type RecordedFunction = { readonly name: string; readonly sha256: string; readonly release: string };

/** Reads the record of applied functions. Returns an empty list before migration 0046, which creates the table. */
export async function readFunctionRecord(client: Connection): Promise<readonly RecordedFunction[]> {
  const { rows: [table] } = await client.query("select to_regclass('schema_function') is not null as exists");
  if (!table.exists) return [];
  const { rows } = await client.query<RecordedFunction>(
    "select name, sha256, release from schema_function order by name",
  );
  return rows;
}

/**
 * Returns the files to apply: files whose checksum differs from the record, or an empty list if a later release applied
 * any of the functions.
 */
export function changedFunctions(
  files: readonly SqlFile[],
  record: readonly RecordedFunction[],
  release: string,
): readonly SqlFile[] {
  if (record.some((row) => isLater(row.release, release))) return [];
  const recorded = new Map(record.map((row) => [row.name, row.sha256]));
  return files.filter(({ name, sha256 }) => recorded.get(name) !== sha256);
}

/**
 * Applies functions inside the caller's transaction, and deletes the records of functions that this release does not
 * have.
 */
export async function applyFunctions(
  client: Connection,
  { files, changed, release }: {
    readonly files: readonly SqlFile[];
    readonly changed: readonly SqlFile[];
    readonly release: string;
  },
): Promise<void> {
  // A function may call a function that a later file creates, so the bodies are checked when all functions exist.
  await client.query("set local check_function_bodies = off");
  for (const { name, sql, sha256 } of changed) {
    await client.query(sql).catch((error) => {
      error.message = `${name}.sql: ${error.message}`;
      throw error;
    });
    await client.query(
      `insert into schema_function (name, sha256, release) values ($1, $2, $3)
       on conflict (name) do update set sha256 = excluded.sha256, release = excluded.release, applied_at = now()`,
      [name, sha256, release],
    );
  }
  await client.query("set local check_function_bodies = on");
  const names = files.map(({ name }) => name);
  await client.query(CHECK_BODIES, [names]);
  await client.query("delete from schema_function where name <> all($1)", [names]);
}

/** Checks the bodies of the named functions, as `create function` does if check_function_bodies is on. */
const CHECK_BODIES = `
  select case l.lanname when 'plpgsql' then plpgsql_validator(p.oid) else fmgr_sql_validator(p.oid) end
    from pg_proc p join pg_language l on l.oid = p.prolang
   where p.pronamespace = current_schema()::regnamespace and p.proname = any($1) and l.lanname in ('plpgsql', 'sql')`;

/** Compares releases such as 0.10.0 and 0.9.1 by their numbers. Returns whether `left` is later. */
export function isLater(left: string, right: string): boolean {
  const [a, b] = [left, right].map((release) => release.split(".").map(Number));
  for (const [index, number] of a!.entries()) {
    if (number !== (b![index] ?? 0)) return number > (b![index] ?? 0);
  }
  return false;
}
