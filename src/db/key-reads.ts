// Reads that find rows by a unique key: credentials, the scope of an object, one record by its id. Nearly every request
// needs one or two of these reads, so they have connections of their own, on which a statement costs little:
// - A statement is prepared once for each connection, unless `prepares` is false. One plan fits all keys, so PostgreSQL
//   does not plan a prepared statement again.
// - Statements are sent without waiting for the answers to earlier statements, and all statements of one turn of the
//   event loop leave in one packet (pipeline.ts).
//
// Results are not kept: each read is a statement that sees everything that committed before it was sent. Use the pool
// for lists, locks and writes, because a slow statement delays the reads behind it.
import {
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from "kysely";
import { openPipeline, type Pipeline, type PipelineClient } from "./pipeline.ts";
import type { Rows } from "./pool.ts";
import { isConnectionError, isSilence, sqlState } from "./sql-error.ts";
import type { Database } from "./tables.ts";

export type KeyReads = {
  query<R>(sql: string, params?: readonly unknown[]): Promise<Rows<R>>;
  readonly kysely: Kysely<Database>;
  /** Waits for running reads, then closes the connections. Later reads are rejected. */
  close(): Promise<void>;
};

/** The maximum number of connections per process. The second is opened when the first is crowded or still opening. */
const CONNECTIONS_MAX = 2;
/** The number of running statements from which a connection counts as crowded. */
const CROWD = 128;
/**
 * Makes PostgreSQL use one plan for all values of a parameter, because every statement finds its rows by a key.
 * Sequential scans are off: PostgreSQL would choose them for a table that had few rows when it was last analyzed, even
 * if the table has many rows now. Bitmap scans are off: for a few keys, they cost more than index scans.
 */
const PLANS =
  "set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_bitmapscan = off; set jit = off";
/** A changed column type makes a prepared statement fail on its connection until it is prepared again. */
const STALE_PLAN = "cached plan must not change result type";
const FEATURE_NOT_SUPPORTED = "0A000";
const INVALID_STATEMENT_NAME = "26000";

type Line = { readonly opened: Promise<Pipeline>; readonly ready: Pipeline | null };

export type KeyReadsOptions = {
  /** Opens a connection that sends statements without waiting for answers. */
  readonly connect: () => Promise<PipelineClient>;
  /**
   * The time between two checks. A check closes a connection that runs no statement and has sent no statement since the
   * previous check.
   */
  readonly idle_ms: number;
  /** Whether statements are prepared. A pooler that shares sessions loses prepared statements. */
  readonly prepares: boolean;
};

export function createKeyReads({ connect, idle_ms, prepares }: KeyReadsOptions): KeyReads {
  const lines: (Line | undefined)[] = Array.from({ length: CONNECTIONS_MAX });
  let closed = false;

  function open(at: number): Line {
    const opened = connect().then(async (client) => {
      if (prepares) await client.query(PLANS);
      const ready = openPipeline(client, { prepares });
      lines[at] = { opened, ready };
      const sweep = closeWhenIdle(ready);
      void ready.ended.then(() => {
        clearInterval(sweep);
        drop(ready);
      });
      return ready;
    });
    opened.catch(() => lines[at] = undefined);
    return lines[at] = { opened, ready: null };
  }

  function closeWhenIdle(pipeline: Pipeline): ReturnType<typeof setInterval> {
    let sent = pipeline.sent();
    return setInterval(() => {
      if (pipeline.running() === 0 && pipeline.sent() === sent) retire(pipeline);
      sent = pipeline.sent();
    }, idle_ms);
  }

  function drop(pipeline: Pipeline): void {
    const at = lines.findIndex((line) => line?.ready === pipeline);
    if (at >= 0) lines[at] = undefined;
  }

  /** Sends no more reads to a connection, and closes it after its running reads. */
  function retire(pipeline: Pipeline): void {
    drop(pipeline);
    void pipeline.close();
  }

  /**
   * Returns the first connection that is open and not crowded. If all are crowded, begins to open another connection,
   * up to the limit, and returns the least crowded open connection. If no connection is open, returns one that is
   * opening.
   */
  function choose(): Line {
    let best: Line | undefined;
    for (const line of lines) {
      if (line?.ready == null) continue;
      if (line.ready.running() < CROWD) return line;
      if (best?.ready == null || line.ready.running() < best.ready.running()) best = line;
    }
    const unopened = lines.indexOf(undefined);
    const opening = unopened < 0 ? lines.find((line) => line?.ready === null) : open(unopened);
    return best ?? opening!;
  }

  async function read<R>(sql: string, params: readonly unknown[], isRepeated: boolean): Promise<Rows<R>> {
    if (closed) throw new Error("Client was closed and is not queryable");
    const { opened, ready } = choose();
    const pipeline = ready ?? await opened;
    try {
      return await pipeline.query<R>(sql, params);
    } catch (error) {
      const is_stale = isStale(error);
      if (!is_stale && !isConnectionError(error)) throw error;
      retire(pipeline);
      // A migration makes the plans of all connections stale. The read is repeated only once, and must not get a stale
      // plan again. So all connections are closed.
      if (is_stale) { for (const line of lines) if (line?.ready != null) retire(line.ready); }
      // A read has no effect, so it can be repeated. It is not repeated after a timeout, because the caller has waited
      // long enough.
      if (isRepeated || isSilence(error)) throw error;
    }
    return await read(sql, params, true);
  }

  const query: KeyReads["query"] = (sql, params = []) => read(sql, params, false);
  return {
    query,
    kysely: kyselyOf(query),
    close: async () => {
      closed = true;
      const open = await Promise.allSettled(lines.map((line) => line?.opened));
      await Promise.all(open.map((line) => line.status === "fulfilled" ? line.value?.close() : undefined));
    },
  };
}

function isStale(error: unknown): boolean {
  const state = sqlState(error);
  if (state === INVALID_STATEMENT_NAME) return true;
  return state === FEATURE_NOT_SUPPORTED && (error as Error).message.includes(STALE_PLAN);
}

/** Returns a Kysely instance that runs each statement as a separate read. It has no transactions. */
function kyselyOf(query: KeyReads["query"]): Kysely<Database> {
  const connection: DatabaseConnection = {
    executeQuery: <R>({ sql, parameters }: { readonly sql: string; readonly parameters: readonly unknown[] }) =>
      query<R>(sql, parameters),
    streamQuery: none,
  };
  const driver: Driver = {
    init: () => Promise.resolve(),
    acquireConnection: () => Promise.resolve(connection),
    releaseConnection: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
    beginTransaction: none,
    commitTransaction: none,
    rollbackTransaction: none,
  };
  return new Kysely<Database>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

function none(): never {
  throw new Error("reads by key have no transactions and no cursors");
}
