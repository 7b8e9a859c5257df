// Creates a database with many rows for tests of query plans.
import { type Db, openPool } from "../../src/db/pool.ts";
import { freshDatabase } from "./database.ts";

/** The time limit in milliseconds of a statement in a filled database, and of a test that uses such a database. */
export const FILLED_LIMIT_MS = 120_000;

/**
 * `db` has one connection, because PostgreSQL adds the reads of another connection to the statistics views only after a
 * delay.
 */
export type FilledDatabase = { readonly db: Db; close(): Promise<void> };

/**
 * Creates a migrated database, runs the statements and analyzes all tables. Foreign keys and triggers are disabled, so
 * a row may refer to rows that do not exist. `close` drops the database.
 */
export async function filledDatabase(statements: readonly string[]): Promise<FilledDatabase> {
  const database = await freshDatabase();
  const db = openPool({ url: database.url, connectionsMax: 1, statementLimit_ms: FILLED_LIMIT_MS });
  const close = async () => {
    await db.close();
    await database.drop();
  };
  try {
    await db.query(`set session_replication_role = replica; ${statements.join("; ")}; analyze`);
  } catch (error) {
    await close();
    throw error;
  }
  return { db, close };
}
