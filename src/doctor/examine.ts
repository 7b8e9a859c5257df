// Runs all checks of the doctor in one read-only snapshot, so that all checks see the same state. Two connections share
// the checks, because PostgreSQL uses one processor for a connection. The first four checks are of the environment.
// Each other check has its own time limit: a check that exceeds it is reported as skipped, and the rest still run.
import type { CheckResult, DoctorReport } from "../contract/doctor.ts";
import { readFunctions, readMigrations } from "../db/migration-files.ts";
import type { Db, DbClient } from "../db/pool.ts";
import { sqlState } from "../db/sql-error.ts";
import { toRfc3339 } from "../lib/text/instant.ts";
import type { Check } from "./check.ts";
import { CONDITIONS } from "./conditions.ts";
import { type ActorTable, invariants, OUTSIDE } from "./invariants.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { LOG_IS_SHORT, type Scope } from "./scope.ts";
import { auditHead, clocks, databaseVersion, migrationsWhole } from "./environment.ts";

export type ExamineOptions = {
  readonly kinds: readonly ActorTable[];
  /** The release of this build, such as 0.2.0. */
  readonly release: string;
  readonly now_ms: () => number;
  /** `all` checks the whole transition log, which takes longer the older the system is. */
  readonly scope: Scope;
};

/**
 * The maximum number of violations that are reported per check, so that the report of a broken system stays readable.
 */
const FOUND_MAX = 20;
/** The statement timeout of each check; shorter than the time after which the pool closes the connection. */
const CHECK_LIMIT_MS = 5_000;
/** The time limit for all checks together. Checks that have not started by then are skipped. */
const TOTAL_LIMIT_MS = 60_000;

/** The reasons why a check is skipped, by SQLSTATE: a timeout, or a concurrent migration that has locked a table. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "57014": `the check did not finish within ${CHECK_LIMIT_MS / 1_000} s`,
  "55P03": "a migration is changing a table that the check reads",
};
const BROKEN = "this must never happen: keep a copy of the database and report a bug";

/** Returns the doctor of a process, which runs at most once at a time in each scope. */
export function createDoctor(
  db: Db,
  build: Pick<ExamineOptions, "kinds" | "release">,
): (scope: Scope) => Promise<DoctorReport> {
  return oneAtATime((scope: Scope) => examine(db, { ...build, now_ms: Date.now, scope }));
}

export async function examine(
  db: Db,
  { kinds, release, now_ms, scope: wanted }: ExamineOptions,
): Promise<DoctorReport> {
  const files = { migrations: await readMigrations(), functions: await readFunctions(), release };
  return await db.withClient(async (client) => {
    const started_ms = now_ms();
    await begin(client);
    const { rows: [shared] } = await client.query<{ snapshot: string }>("select pg_export_snapshot() as snapshot");
    const { rows: [log] } = await client.query<{ short: boolean }>(LOG_IS_SHORT);
    const scope = log!.short ? "all" : wanted;
    const { rows: [clock] } = await client.query<{ now: Date }>("select berth_now() as now");
    const results: CheckResult[] = [
      await databaseVersion(client),
      await migrationsWhole(client, files),
      await clocks(client, now_ms),
      await auditHead(client),
    ];
    const isLate = () => now_ms() - started_ms > TOTAL_LIMIT_MS;
    const work = workOf([...CONDITIONS, ...invariants(kinds, scope)], isLate);
    await Promise.all([work.runOn(client), withSnapshot(db, shared!.snapshot, work.runOn)]);
    results.push(...work.results());
    await client.query("commit");
    for (const { id, title, reason } of OUTSIDE) results.push(skipped({ id, title }, reason));
    return { status: worstOf(results), checked_at: toRfc3339(clock!.now), scope, checks: results };
  });
}

async function begin(client: DbClient): Promise<void> {
  await client.query("begin isolation level repeatable read read only");
  await client.query(`set local statement_timeout = ${CHECK_LIMIT_MS}`);
}

/**
 * Calls `use` with a second connection that sees the snapshot. Does nothing without such a connection, for example if
 * all are busy. Then the first connection runs all checks.
 */
async function withSnapshot(db: Db, snapshot: string, use: (client: DbClient) => Promise<void>): Promise<void> {
  let is_ready = false;
  try {
    await db.withClient(async (client) => {
      await begin(client);
      await client.query(`set transaction snapshot '${snapshot}'`);
      is_ready = true;
      await use(client);
      await client.query("commit");
    });
  } catch (error) {
    if (is_ready) throw error;
  }
}

/**
 * Returns two functions: `runOn` runs checks on a connection until none is left, and `results` returns their results in
 * the order of `checks`.
 */
function workOf(checks: readonly Check[], isLate: () => boolean) {
  const done = new Map<Check, CheckResult>();
  const left = [...checks];
  return {
    runOn: async (client: DbClient): Promise<void> => {
      for (let check = left.shift(); check !== undefined; check = left.shift()) {
        done.set(check, isLate() ? skipped(check, "the earlier checks took too long") : await run(client, check));
      }
    },
    results: (): CheckResult[] => checks.map((check) => done.get(check)!),
  };
}

async function run(client: DbClient, check: Check): Promise<CheckResult> {
  await client.query("savepoint one_check");
  try {
    const query = `select what from (${check.query}) found limit ${FOUND_MAX + 1}`;
    const found = (await client.query<{ what: string }>(query)).rows.map(({ what }) => what);
    await client.query("release savepoint one_check");
    return {
      id: check.id,
      title: check.title,
      status: found.length === 0 ? "ok" : check.severity,
      found: found.slice(0, FOUND_MAX),
      more: found.length > FOUND_MAX,
      facts: [],
      mend: found.length === 0 ? null : check.fix ?? BROKEN,
    };
  } catch (error) {
    const reason = LEFT_OUT[sqlState(error) ?? ""];
    if (reason === undefined) throw error;
    await client.query("rollback to savepoint one_check");
    return skipped(check, reason);
  }
}

function skipped({ id, title }: { readonly id: string; readonly title: string }, reason: string): CheckResult {
  return { id, title, status: "skip", found: [], more: false, facts: [reason], mend: null };
}

function worstOf(results: readonly CheckResult[]): DoctorReport["status"] {
  if (results.some(({ status }) => status === "fail")) return "fail";
  return results.some(({ status }) => status === "warn") ? "warn" : "ok";
}
