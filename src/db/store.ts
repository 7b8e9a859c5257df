// Implements the engine's store on PostgreSQL: a load runs one query per kind of actor, a commit runs one statement for
// all its units (commit_units_1). A unit is written as a whole or not at all.
import {
  ABSENT,
  CommitError,
  type Loaded,
  type LoadedActor,
  type OutboxRow,
  type ReplyRow,
  type Store,
  type StoreSession,
  type Unit,
  type UnitResult,
} from "../../actors/engine/store.ts";
import { type ActorRef, type AnyBehavior, refKey } from "../../actors/engine/types.ts";
import { commitCall } from "./commit-call.ts";
import { type Db, type DbClient, isConnectionError, isSilence, sqlConstraint, sqlState } from "./pool.ts";

/** Creates the store on a pool. `behaviors` give the table of each actor kind. */
export function createStore(db: Db, behaviors: readonly AnyBehavior[]): Store {
  const kinds = new Map(behaviors.map((behavior) => [behavior.kind, behavior]));

  function behaviorOf(kind: string): AnyBehavior {
    const behavior = kinds.get(kind);
    if (behavior === undefined) throw new Error(`unknown actor kind ${kind}`);
    return behavior;
  }

  /** Loads the actors of each kind with one statement; the statements run at the same time. */
  async function load(refs: readonly ActorRef[]): Promise<Loaded> {
    const byKind = [...Map.groupBy(refs, (ref) => ref.kind)];
    return loadedOf(
      refs,
      await Promise.all(byKind.map(async ([kind, members]) => {
        const ids = members.map((ref) => ref.id);
        const client = ids.length <= KEYS_MAX ? db.byKey : db;
        return { kind, rows: (await client.query<LoadRow>(loadStatement(kind), [ids])).rows };
      })),
    );
  }

  /** Locks the rows of the actors and loads them, in the caller's transaction. */
  async function loadLocked(client: DbClient, refs: readonly ActorRef[]): Promise<Loaded> {
    const found: LoadedRows[] = [];
    for (const [kind, members] of Map.groupBy(refs, (ref) => ref.kind)) {
      const { table, key } = behaviorOf(kind);
      const ids = members.map((ref) => ref.id);
      await client.query(`select from ${table} where ${key} = any($1) for update`, [ids]);
      found.push({ kind, rows: (await client.query<LoadRow>(loadStatement(kind), [ids])).rows });
    }
    return loadedOf(refs, found);
  }

  /**
   * Returns the statement that loads actors of a kind by their ids. The left join returns the clock even if no row
   * matches. Table names come from our code, ids are parameters.
   */
  function loadStatement(kind: string): string {
    const { table, key, from } = behaviorOf(kind);
    return `select c.now_ms as "$now", t.* from (${NOW_MS}) c left join ${from ?? table} t on t.${key} = any($1)`;
  }

  function loadedOf(refs: readonly ActorRef[], found: readonly LoadedRows[]): Loaded {
    const actors = new Map<string, LoadedActor>(refs.map((ref) => [refKey(ref), ABSENT]));
    let now_ms = Infinity;
    for (const { kind, rows } of found) {
      const { key } = behaviorOf(kind);
      for (const { $now, ...row } of rows) {
        now_ms = Math.min(now_ms, $now);
        const { incarnation, version, wake_at: _wake, ...state } = row;
        if (version === null) continue;
        actors.set(refKey({ kind, id: String(row[key]) }), { state, incarnation, version });
      }
    }
    if (now_ms === Infinity) throw new Error("load was called with an empty list of actors");
    return { now: new Date(now_ms), actors };
  }

  async function commitOn(
    client: DbClient,
    units: readonly Unit[],
    in_transaction = false,
  ): Promise<readonly UnitResult[]> {
    try {
      const { name, sql, params, waves } = commitCall(units);
      const statement = in_transaction ? undefined : name;
      const { rows: [answers] } = await client.query<Readonly<Record<string, WaveAnswer>>>(sql, params, statement);
      const results: UnitResult[] = units.map(() => ({ status: "done", choice: 0, replies: null }));
      waves.forEach((wave, n) => setResults(results, wave, answers?.[`w${n}`]));
      return results;
    } catch (error) {
      throw commitErrorOf(error);
    }
  }

  async function exclusive<T>(ref: ActorRef, run: (session: StoreSession) => Promise<T>): Promise<T> {
    return await db.withClient(async (client) => {
      try {
        await client.query("begin");
        await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`actor:${refKey(ref)}`]);
        const result = await run({
          load: (refs) => loadLocked(client, refs),
          commit: (units) => commitOn(client, units, true),
        });
        await client.query("commit");
        return result;
      } catch (error) {
        throw commitErrorOf(error);
      }
    });
  }

  return {
    load: async (refs) => {
      try {
        return await load(refs);
      } catch (error) {
        throw commitErrorOf(error);
      }
    },
    commit: (units) => commitOn(db, units),
    exclusive,
    due: async (kind, limit) => {
      const { table, key } = behaviorOf(kind);
      const { rows } = await db.query<{ id: string }>(
        `select ${key} as id from ${table} where wake_at <= (select berth_now()) order by wake_at limit $1`,
        [limit],
        `due ${kind}`,
      );
      return rows.map(({ id }) => ({ kind, id }));
    },
    outbox: async (limit) => {
      const { rows } = await db.query<{ id: string; to_kind: string; to_id: string; message: OutboxRow["message"] }>(
        "select id, to_kind, to_id, message from outbox order by id limit $1",
        [limit],
      );
      return rows.map(({ id, to_kind, to_id, message }) => ({ id, to: { kind: to_kind, id: to_id }, message }));
    },
    delivered: async (ids) => {
      await db.query("delete from outbox where id = any($1)", [ids], "outbox delivered");
    },
  };
}

/**
 * Reads the clock as a number of milliseconds. Every row contains the clock, and a number is cheaper to format and
 * parse than a timestamp.
 */
const NOW_MS = "select floor(extract(epoch from berth_now()) * 1000)::bigint as now_ms";

/**
 * If a load reads at most this many actors of a kind, it uses the connections of key-reads.ts, which keep the plan of
 * the statement. A larger answer would delay the reads behind it.
 */
const KEYS_MAX = 64;

type LoadedRows = { readonly kind: string; readonly rows: readonly LoadRow[] };
type LoadRow = { $now: number; incarnation: string; version: number | null } & Record<string, unknown>;

/**
 * The answers for the units of a wave (actors/engine/waves.ts). A unit without an answer was written as requested. `u`
 * is the index of the unit within its wave.
 */
type WaveAnswer = {
  readonly conflicts: readonly number[];
  readonly known: readonly { readonly u: number; readonly replies: readonly ReplyRow[] }[];
  readonly chosen: readonly { readonly u: number; readonly c: number; readonly replies: readonly ReplyRow[] }[];
};

function setResults(results: UnitResult[], wave: readonly number[], answer: WaveAnswer | undefined): void {
  if (answer === undefined) throw new Error("commit_units_1 returned no answer");
  const set = (u: number, result: UnitResult) => results[wave[u] ?? -1] = result;
  for (const u of answer.conflicts) set(u, { status: "conflict" });
  for (const { u, replies } of answer.known) set(u, { status: "known", replies });
  for (const { u, c, replies } of answer.chosen) set(u, { status: "done", choice: c, replies });
}

/**
 * Maps a database error. Class 23 is a constraint violation, and the classes in UNIT_CLASSES are errors of the values
 * of one unit. A statement that failed with a state in BUSY_STATES can succeed on a retry. After a broken connection
 * the outcome is unknown. Any other error is a bug and is returned unchanged.
 */
function commitErrorOf(error: unknown): unknown {
  if (error instanceof CommitError) return error;
  if (isConnectionError(error)) return new CommitError("unknown", null, { cause: error, silent: isSilence(error) });
  const state = sqlState(error);
  if (state === undefined) return error;
  if (state.startsWith("23")) return new CommitError("constraint", sqlConstraint(error) ?? null, { cause: error });
  // The other units of the call must not fail with this unit.
  if (UNIT_CLASSES.has(state.slice(0, 2))) return new CommitError("constraint", null, { cause: error });
  if (isBusy(error)) return new CommitError("busy", null, { cause: error });
  return error;
}

const UNIT_CLASSES: ReadonlySet<string> = new Set([
  "21", // cardinality_violation: a statement would write a row twice
  "22", // data_exception: a value that PostgreSQL refuses
  "54", // program_limit_exceeded: for example a value that is too large for an index
]);

/** Returns whether the statement failed with a state in BUSY_STATES. */
export function isBusy(error: unknown): boolean {
  return BUSY_STATES.has(sqlState(error) ?? "");
}

const BUSY_STATES: ReadonlySet<string> = new Set([
  "55P03", // lock_not_available
  "40P01", // deadlock_detected
  "40001", // serialization_failure
  "57014", // query_canceled: statement_timeout expired
  "53100", // disk_full
  "53200", // out_of_memory
  "25006", // read_only_sql_transaction: the server is a standby, or a failover is in progress
]);
