// Brings a database up to this build. One process at a time (an advisory lock), one transaction per file, and a record of
// what ran: a file is never run twice, never edited after it ran, never slipped in before one that ran.
import { type Migration, readMigrations } from "./migration-files.ts";
import { type Connection, openClient, sqlState } from "./pool.ts";

export type MigrateOptions = {
  /** Default: the migrations of this build. */
  readonly folder?: URL;
};

/** Architecture, section 2: 60 s for migrations. */
const STATEMENT_LIMIT_MS = 60_000;
/** Others queue behind a lock that a migration waits for, so it gives up soon and comes again. */
const LOCK_LIMIT_MS = 2_000;
const LOCK_TRIES_MAX = 10;
const LOCK_RETRY_MS = 250;
/** How long we wait for another process that migrates. */
const TURN_LIMIT_MS = 10 * 60_000;
const TURN_POLL_MS = 100;
/** Any number that nothing else in this database uses: "berth" in ASCII. */
const LOCK_KEY = 0x62_65_72_74_68;

const LOCK_NOT_AVAILABLE = "55P03";
const DEADLOCK_DETECTED = "40P01";
const INSUFFICIENT_PRIVILEGE = "42501";

/**
 * Applies what is missing and answers the names of the files it applied, in order.
 * Throws an Error with the mend when the record and the files disagree, or when the server is a standby. A database that
 * a newer build has migrated is left as it is: old and new processes share one during a deploy.
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<{ applied: string[] }> {
  const migrations = await readMigrations(options.folder);
  const client = await openClient({
    url,
    applicationName: "berth-migrate",
    statementLimit_ms: STATEMENT_LIMIT_MS,
    lockLimit_ms: LOCK_LIMIT_MS,
  });
  try {
    await refuseStandby(client);
    await takeTurn(client);
    const applied: string[] = [];
    for (const migration of pending(migrations, await readRecord(client))) {
      await apply(client, migration);
      applied.push(migration.name);
    }
    return { applied };
  } finally {
    await client.end(); // Ends the session, and the lock with it.
  }
}

type Recorded = { readonly number: number; readonly name: string; readonly sha256: string };

async function refuseStandby(client: Connection): Promise<void> {
  const { rows } = await client.query("select pg_is_in_recovery() as standby");
  if (rows[0].standby) {
    throw new Error("DATABASE_URL names a standby, which cannot be written. Point it to the primary server.");
  }
}

/** By polling: a session that waits inside a lock holds back other DDL. */
async function takeTurn(client: Connection): Promise<void> {
  for (let waited_ms = 0; waited_ms < TURN_LIMIT_MS; waited_ms += TURN_POLL_MS) {
    const { rows } = await client.query("select pg_try_advisory_lock($1) as mine", [LOCK_KEY]);
    if (rows[0].mine) return;
    await new Promise((wake) => setTimeout(wake, TURN_POLL_MS));
  }
  throw new Error(
    `Another process has been migrating this database for ${TURN_LIMIT_MS / 60_000} minutes. ` +
      `Look for application_name berth-migrate in pg_stat_activity.`,
  );
}

async function readRecord(client: Connection): Promise<readonly Recorded[]> {
  // A user that may not make tables can still find that nothing is to be done.
  const there = await client.query("select to_regclass('schema_migration') is not null as yes");
  if (!there.rows[0].yes) {
    await client.query(`
      create table if not exists schema_migration (
        number     integer primary key,
        name       text not null,
        sha256     text not null,
        applied_at timestamptz not null default now()
      )`).catch((cause) => {
      throw new Error(`The record of migrations cannot be made: ${cause.message}${hint(cause)}`, { cause });
    });
  }
  const { rows } = await client.query<Recorded>("select number, name, sha256 from schema_migration order by number");
  return rows;
}

/** What is to be applied, after the record was compared with the files. */
function pending(migrations: readonly Migration[], record: readonly Recorded[]): readonly Migration[] {
  const files = new Map(migrations.map((migration) => [migration.number, migration]));
  const newest = migrations.at(-1)?.number ?? 0;
  const newestRecorded = record.at(-1)?.number ?? 0;
  for (const row of record) {
    const file = files.get(row.number);
    if (file === undefined && row.number < newest) {
      throw new Error(
        `migrations/${row.name} was applied to this database and is gone from the build. Restore the file.`,
      );
    }
    if (file !== undefined && file.sha256 !== row.sha256) {
      throw new Error(
        `migrations/${file.name} was edited after it was applied to this database (as ${row.name}). Restore the file ` +
          `as it was, and put the change into a new file with the next number.`,
      );
    }
  }
  const recorded = new Set(record.map((row) => row.number));
  const missing = migrations.filter((migration) => !recorded.has(migration.number));
  const late = missing.find((migration) => migration.number < newestRecorded);
  if (late !== undefined) {
    throw new Error(
      `migrations/${late.name} was not applied, but a later one was (${newestRecorded}). Give it the next free number.`,
    );
  }
  return missing;
}

async function apply(client: Connection, migration: Migration): Promise<void> {
  for (let tries = 1;; tries++) {
    try {
      return await applyOnce(client, migration);
    } catch (error) {
      const state = sqlState(error);
      const busy = state === LOCK_NOT_AVAILABLE || state === DEADLOCK_DETECTED;
      if (!busy || tries === LOCK_TRIES_MAX) {
        throw new Error(`migrations/${migration.name} failed: ${(error as Error).message}${hint(error)}`, {
          cause: error,
        });
      }
      await new Promise((wake) => setTimeout(wake, LOCK_RETRY_MS * tries));
    }
  }
}

/** What to do when the user has no right to migrate. */
function hint(error: unknown): string {
  return sqlState(error) === INSUFFICIENT_PRIVILEGE
    ? ". Set BERTH_OWNER_DATABASE_URL to the address of the user that owns the tables."
    : "";
}

async function applyOnce(client: Connection, { number, name, sql, sha256 }: Migration): Promise<void> {
  await client.query("begin");
  try {
    await client.query(sql);
    await client.query("insert into schema_migration (number, name, sha256) values ($1, $2, $3)", [
      number,
      name,
      sha256,
    ]);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {}); // The first error tells; a broken connection rolls back by itself.
    throw error;
  }
}
