// Manages connections to PostgreSQL. Outside the tests, only this file imports the driver (pg). The pool closes a
// connection and does not use it again in these cases:
// - The connection is broken, or a transaction was left open.
// - A statement timed out on our side, or a prepared statement was lost.
// - The server no longer accepts writes.
import { Kysely, PostgresDialect, type PostgresPoolClient, type PostgresQueryResult } from "kysely";
import pg from "pg";
import { choosesServer, databaseUrls } from "./database-hosts.ts";
import { createKeyReads, type KeyReads } from "./key-reads.ts";
import type { PipelineClient } from "./pipeline.ts";
import { createPrimary, type Primary } from "./primary.ts";
import { isConnectionError, NotPrimary, sqlState } from "./sql-error.ts";
import type { Database } from "./tables.ts";
import { strictTls } from "./tls.ts";

export { isConnectionError, isSilence, isTimeout, sqlConstraint, sqlState } from "./sql-error.ts";

export type ConnectOptions = {
  /** The URL may name several servers. Connections then go to the server that accepts writes (database-hosts.ts). */
  readonly url: string;
  /** Shown in pg_stat_activity, so that an operator can distinguish processes. Default: berth. */
  readonly applicationName?: string;
  /**
   * statement_timeout of the connection. Default: 5 s; migrations pass 60 s. With `sharesSessions`, it only sets how
   * long the client waits for an answer.
   */
  readonly statementLimit_ms?: number;
  readonly lockLimit_ms?: number;
  /**
   * Whether the URL names a pooler that gives each transaction another session, such as PgBouncer in transaction mode.
   * Then prepared statements, roles and time limits end with each transaction. Default: false.
   */
  readonly sharesSessions?: boolean;
};

export type PoolOptions = ConnectOptions & {
  readonly connectionsMax?: number;
  /**
   * Each connection uses this role if the role exists and the user of the URL may set it. Otherwise the connection uses
   * the user's own role. Ignored with `sharesSessions`.
   */
  readonly role?: string;
  /** Receives errors of idle connections of the pool. The pool replaces these connections. */
  readonly onError?: (error: Error) => void;
};

export type Rows<R> = { readonly rows: R[]; readonly rowCount: number };

export type DbClient = {
  /**
   * Runs one statement. With a name, each connection parses the statement once; a name must always be used with the
   * same text. If a migration made the plan invalid, the statement fails once and is repeated. Do not pass a name
   * inside a transaction: the failure aborts the transaction, so the repetition fails, too.
   */
  query<R = Row>(sql: string, params?: readonly unknown[], name?: string): Promise<Rows<R>>;
};

export type Db = DbClient & {
  readonly kysely: Kysely<Database>;
  /** For reads that find rows by a unique key. These reads have connections of their own. */
  readonly byKey: Pick<KeyReads, "query" | "kysely">;
  /**
   * Runs several statements on one connection. If `use` leaves a transaction open, the connection is closed, which
   * rolls it back.
   */
  withClient<T>(use: (client: DbClient) => Promise<T>): Promise<T>;
  /** Waits for running statements, then closes all connections. Later calls return the same promise. */
  close(): Promise<void>;
  stats(): { readonly open: number; readonly idle: number; readonly waiting: number };
};

// deno-lint-ignore no-explicit-any -- without a row type, columns are not type-checked
type Row = any;

/**
 * The maximum number of connections of a pool by default, and the time limits of a statement and of a wait for a lock.
 * A process also has one LISTEN connection and the connections of key-reads.ts.
 */
const CONNECTIONS_MAX = 8;
const STATEMENT_LIMIT_MS = 5_000;
const LOCK_LIMIT_MS = 250;
/** PostgreSQL ends a session whose transaction was open and idle for this time. This releases the session's locks. */
const IDLE_IN_TRANSACTION_MS = 10_000;
/**
 * Time limit for connecting to the server and for waiting for a free connection. After this time, the caller answers
 * 503.
 */
const CONNECT_LIMIT_MS = 5_000;
/** Time limit for connecting to one of several servers. It is shorter, because the next server is tried afterwards. */
const CONNECT_EACH_LIMIT_MS = 2_000;
/**
 * If an answer takes longer than statement_timeout plus READ_GRACE_MS, the connection counts as dead. A connection that
 * was idle for KEEP_IDLE_MS is closed. TCP checks a connection after KEEPALIVE_AFTER_MS without data.
 */
const READ_GRACE_MS = 3_000;
const KEEP_IDLE_MS = 60_000;
const KEEPALIVE_AFTER_MS = 10_000;

const SET_ROLE = `select set_config('role', rolname, false) from pg_roles where rolname = $1
  and pg_has_role(oid, case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end)`;

/** Creates a pool. It connects when the first statement runs. */
export function openPool(options: PoolOptions): Db {
  const primary = primaryOf(options);
  class Client extends pg.Client {
    constructor() {
      super(clientConfig(options, primary.current()));
    }
  }
  const pool = new pg.Pool({
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    max: options.connectionsMax ?? CONNECTIONS_MAX,
    idleTimeoutMillis: KEEP_IDLE_MS,
    Client,
    onConnect: (client) => prepare(client, options),
  });
  pool.on("error", (error) => options.onError?.(error));
  const prepares = options.sharesSessions !== true;
  const connect = async () => lease(await primary.open(() => pool.connect()), prepares);

  async function withClient<T>(use: (client: DbClient) => Promise<T>): Promise<T> {
    const leased = await connect();
    try {
      return await use({ query: (sql, params = [], name) => leased.query(sql, params, name).then(toRows) });
    } finally {
      leased.release();
    }
  }

  const byKey = createKeyReads({
    connect: () => primary.open(() => openPipelineClient(options, primary.current())),
    idle_ms: KEEP_IDLE_MS,
    prepares,
  });
  let closing: Promise<void> | undefined;
  const close = () => closing ??= Promise.all([pool.end(), byKey.close()]).then(() => {});
  // Kysely's type requires cursors, but Kysely uses them only if it gets a cursor class.
  const kyselyConnect = connect as () => Promise<unknown> as () => Promise<PostgresPoolClient>;
  const kyselyPool = { connect: kyselyConnect, end: close, options: pool.options, Client: pg.Client };
  return {
    kysely: new Kysely<Database>({ dialect: new PostgresDialect({ pool: kyselyPool }) }),
    byKey,
    query: (sql, params, name) => withClient((client) => client.query(sql, params, name)),
    withClient,
    close,
    stats: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
  };
}

export type Connection = pg.Client;

/** Opens one connection outside the pool, for LISTEN, migrations and administration. */
export async function openClient(options: ConnectOptions): Promise<Connection> {
  const primary = primaryOf(options);
  return await primary.open(() => openAt(primary.current(), options));
}

async function openPipelineClient(options: PoolOptions, url: string): Promise<PipelineClient> {
  const client = await openAt(url, options, { pipeline: true });
  await setRole(client, options);
  return client as pg.Client & PipelineClient;
}

function primaryOf(options: ConnectOptions): Primary {
  const limits = { connectionTimeoutMillis: CONNECT_EACH_LIMIT_MS, query_timeout: CONNECT_EACH_LIMIT_MS };
  return createPrimary(databaseUrls(options.url), async (url) => {
    const client = await openAt(url, options, limits);
    await client.end();
  });
}

async function openAt(url: string, options: ConnectOptions, config: pg.ClientConfig = {}): Promise<Connection> {
  const client = new pg.Client({ ...clientConfig(options, url), ...config });
  // Without a listener a broken connection would end the process. The next query reports the error.
  client.on("error", () => {});
  try {
    await client.connect();
    await refuseStandby(client, options);
  } catch (error) {
    void client.end().catch(() => {}); // The connection may be open or already broken.
    throw error;
  }
  return client;
}

/**
 * Throws NotPrimary if the URL names several servers or has target_session_attrs, and this server does not accept
 * writes.
 */
async function refuseStandby(client: pg.ClientBase, { url }: ConnectOptions): Promise<void> {
  if (!choosesServer(url)) return;
  // The setting is on at a standby, and at a server whose operator forbids writes.
  const { rows } = await client.query("show transaction_read_only");
  if (rows[0].transaction_read_only === "on") throw new NotPrimary();
}

async function prepare(client: pg.ClientBase, options: PoolOptions): Promise<void> {
  client.on("error", () => {}); // The pool does not listen to a leased connection; the running statement gets the error.
  await refuseStandby(client, options);
  await setRole(client, options);
}

async function setRole(client: pg.ClientBase, { role, sharesSessions }: PoolOptions): Promise<void> {
  if (role !== undefined && sharesSessions !== true) await client.query(SET_ROLE, [role]);
}

/** The SQLSTATEs of a named statement that the connection can no longer run. The statement had no effect. */
const PLAN_LOST: ReadonlySet<string> = new Set([
  "0A000", // feature_not_supported: a migration changed the columns that it returns
  "26000", // invalid_sql_statement_name: something between us and the server discarded it
]);

/** read_only_sql_transaction: the server behind the connection is no longer the primary. */
const READ_ONLY = "25006";

type Lease = {
  query<R = Row>(sql: string, params: readonly unknown[], name?: string): Promise<PostgresQueryResult<R>>;
  release(discard?: boolean): void;
};

/** Wraps a leased connection so that `release` closes it if it must not be reused. */
function lease(client: pg.PoolClient, prepares: boolean): Lease {
  let broken = false;
  async function run<R>(text: string, params: readonly unknown[], name?: string): Promise<PostgresQueryResult<R>> {
    try {
      const statement = name === undefined || !prepares ? { text } : { text, name };
      // The driver's type of the command is string; Kysely's is a union.
      return await client.query({ ...statement, values: [...params] }) as unknown as PostgresQueryResult<R>;
    } catch (error) {
      broken ||= isConnectionError(error) || sqlState(error) === READ_ONLY;
      if (name === undefined || !PLAN_LOST.has(sqlState(error) ?? "")) throw error;
      broken = true;
      return await run<R>(text, params);
    }
  }
  return {
    query: run,
    release: (discard = false) => client.release(discard || broken || client.getTransactionStatus() !== "I"),
  };
}

function toRows<R>(result: PostgresQueryResult<R>): Rows<R> {
  return { rows: result.rows, rowCount: result.rowCount ?? 0 };
}

function clientConfig(options: ConnectOptions, url: string): pg.ClientConfig {
  const statement_timeout = options.statementLimit_ms ?? STATEMENT_LIMIT_MS;
  return {
    connectionString: strictTls(url),
    application_name: options.applicationName ?? "berth",
    // A pooler that shares sessions refuses these options. With such a pooler, they must be settings of the database's
    // user.
    ...options.sharesSessions !== true && {
      statement_timeout,
      lock_timeout: options.lockLimit_ms ?? LOCK_LIMIT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    },
    // The client's own time limit. The server's time limit has no effect if the server or the network is down.
    query_timeout: statement_timeout + READ_GRACE_MS,
    connectionTimeoutMillis: choosesServer(options.url) ? CONNECT_EACH_LIMIT_MS : CONNECT_LIMIT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_AFTER_MS,
    types: { getTypeParser },
  };
}

const OID = { int8: 20, int8Array: 1016, date: 1082 } as const;

/**
 * Parses int8 as a number and date as text. The driver's defaults apply to other types: numeric is text, timestamptz a
 * Date.
 */
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: "text" | "binary") => {
  const standard = pg.types.getTypeParser(oid, format as "text");
  if (format === "binary") return standard;
  switch (oid) {
    case OID.int8:
      return exactNumber;
    case OID.int8Array:
      return (text: string) => deepMap(standard(text), exactNumber);
    case OID.date: // A date has no instant without a time zone.
      return (text: string) => text;
    default:
      return standard;
  }
};

/** Parses an int8. Throws a RangeError instead of rounding, because ids and byte counts must be exact. */
function exactNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 ${text} does not fit a JavaScript number`);
  return value;
}

function deepMap(value: unknown, map: (text: string) => number): unknown {
  if (Array.isArray(value)) return value.map((item) => deepMap(item, map));
  return typeof value === "string" ? map(value) : value;
}
