// Checks the environment: the database server, the migrations, the clocks, the head of the audit chain.
import type { CheckResult } from "../contract/doctor.ts";
import { isLater, type RecordedFunction } from "../db/migrate-functions.ts";
import type { Migration, SqlFile } from "../db/migration-files.ts";
import type { DbClient } from "../db/pool.ts";

/**
 * The PostgreSQL version that Berth includes and all tests use. The check warns about an older version, because no test
 * runs with it.
 */
const MAJOR_TESTED = 18;
/** The oldest PostgreSQL version whose SQL Berth can use. An older version fails the check. */
const MAJOR_MIN = 15;
/**
 * The check warns if the clocks differ by at least this plus the error of the measurement. The check never fails,
 * because the server uses only the database's clock for decisions. A difference only confuses operators who compare
 * timestamps.
 */
const CLOCK_DIFFERENCE_MS_MAX = 2_000;

type Found = Pick<CheckResult, "status" | "facts"> & Partial<CheckResult>;

function result(id: string, title: string, found: Found): CheckResult {
  return { id, title, found: [], more: false, mend: null, ...found };
}

export async function databaseVersion(client: DbClient): Promise<CheckResult> {
  const { rows: [row] } = await client.query<{ number: number; name: string; standby: boolean }>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as name,
            pg_is_in_recovery() as standby`,
  );
  const { number, name, standby } = row!;
  const major = Math.floor(number / 10_000);
  const old = major < MAJOR_TESTED;
  const title = `the database is a primary server of PostgreSQL ${MAJOR_MIN} or later; ` +
    `${MAJOR_TESTED} is recommended, because all tests use it`;
  const facts = [`PostgreSQL ${name}${standby ? ", a standby" : ""}`];
  if (!old && !standby) return result("database", title, { status: "ok", facts });
  return result("database", title, {
    status: standby || major < MAJOR_MIN ? "fail" : "warn",
    facts: [],
    found: facts,
    mend: standby ? "point DATABASE_URL to the primary server" : `upgrade the server to PostgreSQL ${MAJOR_TESTED}`,
  });
}

/** The files of this build that must have been applied to a database, and the release of this build, such as 0.2.0. */
export type SchemaFiles = {
  readonly migrations: readonly Migration[];
  readonly functions: readonly SqlFile[];
  readonly release: string;
};

/** Compares the records of applied migrations and functions with the files of this build. */
export async function migrationsWhole(
  client: DbClient,
  { migrations, functions, release }: SchemaFiles,
): Promise<CheckResult> {
  const title = "every migration and function of this build is applied, with its current text";
  const { rows } = await client.query<{ number: number; name: string; sha256: string }>(
    "select number, name, sha256 from schema_migration order by number",
  );
  const newest = migrations.at(-1);
  const { rows: record } = await client.query<RecordedFunction>("select name, sha256, release from schema_function");
  const releases = new Set(record.map((row) => row.release).filter((other) => isLater(other, release)));
  const later = [
    ...rows.filter(({ number }) => number > (newest?.number ?? 0)).map(({ name }) => `${name} is from a newer build`),
    ...[...releases].map((other) => `functions are from release ${other}; this server is release ${release}`),
  ];
  // If a newer build has migrated the database, the database's functions may differ.
  const changed = later.length > 0 ? [] : unlike(functions, record).map((text) => `function ${text}`);
  const found = [...unlike(migrations, rows), ...changed];
  if (found.length > 0) {
    return result("migrations", title, {
      status: "fail",
      facts: [],
      found,
      mend: "start a server of this build, which migrates the database; if a migration file was edited, restore it",
    });
  }
  if (later.length === 0) return result("migrations", title, { status: "ok", facts: [`up to ${newest?.name}`] });
  return result("migrations", title, {
    status: "warn",
    facts: [],
    found: later,
    mend: "replace this server by the newer build",
  });
}

type Recorded = { readonly number?: number; readonly name: string; readonly sha256: string };

/**
 * Lists the files that have no record or a record with another checksum. Migrations are matched by number, functions by
 * name.
 */
function unlike(files: readonly Recorded[], rows: readonly Recorded[]): string[] {
  const recorded = new Map(rows.map((row) => [row.number ?? row.name, row]));
  return files.flatMap(({ number, name, sha256 }) => {
    const row = recorded.get(number ?? name);
    if (row === undefined) return [`${name} was not applied`];
    return row.sha256 === sha256 ? [] : [`${name} was applied with another text, as ${row.name}`];
  });
}

/**
 * Compares the clocks of this process and the database. Assumes that the database read its clock halfway through the
 * round trip, so the error is at most half the round trip.
 */
export async function clocks(client: DbClient, now_ms: () => number): Promise<CheckResult> {
  const title = `the clocks of server and database differ by less than ${CLOCK_DIFFERENCE_MS_MAX / 1_000} s`;
  const before_ms = now_ms();
  const { rows: [row] } = await client.query<{ now: Date }>("select clock_timestamp() as now");
  const way_ms = now_ms() - before_ms;
  const difference_ms = Math.round(row!.now.getTime() - before_ms - way_ms / 2);
  const fact = `the database is ${Math.abs(difference_ms)} ms ${difference_ms < 0 ? "behind" : "ahead"}`;
  if (Math.abs(difference_ms) - way_ms / 2 < CLOCK_DIFFERENCE_MS_MAX) {
    return result("clocks", title, { status: "ok", facts: [fact] });
  }
  return result("clocks", title, {
    status: "warn",
    facts: [],
    found: [fact],
    mend: "synchronize both machines with the same time server",
  });
}

/** Reports the head of the audit chain. An operator who keeps a copy can later detect that the chain was rewritten. */
export async function auditHead(client: DbClient): Promise<CheckResult> {
  const { rows: [head] } = await client.query<{ seq: number; hash: string }>("select seq, hash from audit_head");
  const title = "the audit chain has a head; keep a copy of it elsewhere";
  if (head === undefined) {
    return result("audit-head", title, {
      status: "fail",
      facts: [],
      found: ["the table audit_head has no row"],
      mend: "restore the database from a backup",
    });
  }
  const fact = head.seq < 0 ? "no event yet" : `event ${head.seq}, hash ${head.hash}`;
  return result("audit-head", title, { status: "ok", facts: [fact] });
}
