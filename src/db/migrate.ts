// Updates a database to the schema of this build. An advisory lock lets one process at a time migrate. Each numbered
// migration runs once, in its own transaction. So the statements of a file that ran must not be edited, and no file may
// be inserted before it. After the migrations, the changed functions are applied in one transaction
// (migrate-functions.ts).
import { applyFunctions, changedFunctions, readFunctionRecord } from "./migrate-functions.ts";
import { type Migration, readFunctions, readMigrations } from "./migration-files.ts";
import { type Connection, openClient, sqlState } from "./pool.ts";

export type MigrateOptions = {
  /** Default: the migrations of this build. */
  readonly folder?: URL;
  /** The release of this build, such as 0.2.0. Default: 0, which never replaces functions that a release applied. */
  readonly release?: string;
};

/** The time limit of a statement of a migration. Such a statement may rewrite a large table. */
const STATEMENT_LIMIT_MS = 60_000;
/**
 * A migration waits for a lock for this fraction of PostgreSQL's deadlock_timeout. Then it rolls back and tries again.
 * Other statements queue behind a migration that waits, so their transactions and the migration may deadlock. The
 * migration must give up before PostgreSQL ends one of these transactions with an error.
 */
const LOCK_WAIT_SHARE = 1 / 4;
/** How long a migration is repeated because of locks, and the pause before each repetition. */
const LOCK_PATIENCE_MS = 60_000;
const LOCK_RETRY_MS = 250;
/** The longest wait for another process that migrates, and the pause between two checks. */
const QUEUE_LIMIT_MS = 10 * 60_000;
const QUEUE_POLL_MS = 100;
/** An arbitrary advisory lock key: "berth" in ASCII. */
const LOCK_KEY = 0x62_65_72_74_68;

const LOCK_NOT_AVAILABLE = "55P03";
const DEADLOCK_DETECTED = "40P01";
const INSUFFICIENT_PRIVILEGE = "42501";

/**
 * Applies the missing migrations and the changed functions. Returns the names of the applied files, in order. Throws an
 * Error if the recorded migrations and the files disagree, or if the server is a standby. The Error says what to do.
 * Does not change a database that a newer build has migrated, because old and new processes share it during a deploy.
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<{ applied: string[] }> {
  const migrations = await readMigrations(options.folder);
  const client = await openClient({
    url,
    applicationName: "berth-migrate",
    statementLimit_ms: STATEMENT_LIMIT_MS,
  });
  try {
    await refuseStandby(client);
    await limitLockWaits(client);
    await lockMigrations(client);
    const record = await readRecord(client);
    const applied: string[] = [];
    for (const migration of pending(migrations, record)) {
      await retryWhileLocked(migration.name, client, () => applyMigration(client, migration));
      applied.push(migration.name);
    }
    if ((record.at(-1)?.number ?? 0) > (migrations.at(-1)?.number ?? 0)) return { applied };
    return { applied: [...applied, ...await migrateFunctions(client, options)] };
  } finally {
    await client.end(); // Ends the session. This releases the lock.
  }
}

async function limitLockWaits(client: Connection): Promise<void> {
  await client.query(
    `select set_config('lock_timeout', greatest(1, setting::int * $1::float8)::int::text, false)
       from pg_settings where name = 'deadlock_timeout'`,
    [LOCK_WAIT_SHARE],
  );
}

async function migrateFunctions(client: Connection, { folder, release = "0" }: MigrateOptions): Promise<string[]> {
  const files = await readFunctions(folder);
  const changed = changedFunctions(files, await readFunctionRecord(client), release);
  if (changed.length === 0) return [];
  await retryWhileLocked("functions", client, () => applyFunctions(client, { files, changed, release }));
  return changed.map(({ name }) => `functions/${name}.sql`);
}

type Recorded = { readonly number: number; readonly name: string; readonly sha256: string };

async function refuseStandby(client: Connection): Promise<void> {
  const { rows } = await client.query("select pg_is_in_recovery() as standby");
  if (rows[0].standby) {
    throw new Error("DATABASE_URL names a standby, which cannot be written. Point it to the primary server.");
  }
}

/**
 * Waits for the migration lock by polling. A session that waits in a lock call would block statements of other
 * sessions, such as `create index concurrently`.
 */
async function lockMigrations(client: Connection): Promise<void> {
  for (let waited_ms = 0; waited_ms < QUEUE_LIMIT_MS; waited_ms += QUEUE_POLL_MS) {
    const { rows } = await client.query("select pg_try_advisory_lock($1) as mine", [LOCK_KEY]);
    if (rows[0].mine) return;
    await new Promise((wake) => setTimeout(wake, QUEUE_POLL_MS));
  }
  throw new Error(
    `Another process has been migrating this database for ${QUEUE_LIMIT_MS / 60_000} minutes. ` +
      `Look for application_name berth-migrate in pg_stat_activity.`,
  );
}

async function readRecord(client: Connection): Promise<readonly Recorded[]> {
  // Creates the table only if it is missing, so that a user without permission to create tables can check an up-to-date
  // database.
  const { rows: [table] } = await client.query("select to_regclass('schema_migration') is not null as exists");
  if (!table.exists) {
    await client.query(`
      create table if not exists schema_migration (
        number     integer primary key,
        name       text not null,
        sha256     text not null,
        applied_at timestamptz not null default now()
      )`).catch((cause) => {
      throw new Error(`The table schema_migration cannot be created: ${cause.message}${hint(cause)}`, { cause });
    });
  }
  const { rows } = await client.query<Recorded>("select number, name, sha256 from schema_migration order by number");
  return rows;
}

/** Compares the record with the files and returns the migrations to apply. */
function pending(migrations: readonly Migration[], record: readonly Recorded[]): readonly Migration[] {
  const files = new Map(migrations.map((migration) => [migration.number, migration]));
  const newest = migrations.at(-1)?.number ?? 0;
  const newestRecorded = record.at(-1)?.number ?? 0;
  for (const row of record) {
    const file = files.get(row.number);
    if (file === undefined && row.number < newest) {
      throw new Error(
        `migrations/${row.name} was applied to this database but is missing in this build. Restore the file.`,
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

async function retryWhileLocked(name: string, client: Connection, apply: () => Promise<void>): Promise<void> {
  const until = performance.now() + LOCK_PATIENCE_MS;
  for (;;) {
    try {
      return await inTransaction(client, apply);
    } catch (error) {
      const state = sqlState(error);
      const locked = state === LOCK_NOT_AVAILABLE || state === DEADLOCK_DETECTED;
      if (!locked || performance.now() > until) {
        throw new Error(`migrations/${name} failed: ${(error as Error).message}${hint(error)}`, { cause: error });
      }
      await new Promise((wake) => setTimeout(wake, LOCK_RETRY_MS));
    }
  }
}

/** Returns what to do if the user lacks the permission to migrate; otherwise an empty text. */
function hint(error: unknown): string {
  return sqlState(error) === INSUFFICIENT_PRIVILEGE
    ? ". Set BERTH_OWNER_DATABASE_URL to the address of the user that owns the tables."
    : "";
}

async function inTransaction(client: Connection, apply: () => Promise<void>): Promise<void> {
  await client.query("begin");
  try {
    await apply();
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {}); // A broken connection rolls back by itself.
    throw error;
  }
}

async function applyMigration(client: Connection, { number, name, sql, sha256 }: Migration): Promise<void> {
  await client.query(sql);
  await client.query("insert into schema_migration (number, name, sha256) values ($1, $2, $3)", [number, name, sha256]);
}
