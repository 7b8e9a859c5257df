// Connections to PostgreSQL: the only file that imports the driver. A connection whose state is in doubt (it broke, a
// statement timed out on our side, a transaction was left open) is closed and never handed out again.
import { Kysely, PostgresDialect, type PostgresPoolClient, type PostgresQueryResult } from "kysely";
import pg from "pg";
import { isConnectionError } from "./sql-error.ts";
import type { Database } from "./tables.ts";
import { strictTls } from "./tls.ts";

export { isConnectionError, isSilence, sqlConstraint, sqlState } from "./sql-error.ts";

export type ConnectOptions = {
  readonly url: string;
  /** Shown in pg_stat_activity, so that an operator can tell processes apart. Default: berth. */
  readonly applicationName?: string;
  /** Default 5 s; 60 s for verify and migrations. */
  readonly statementLimit_ms?: number;
  readonly lockLimit_ms?: number;
};

export type PoolOptions = ConnectOptions & {
  readonly connectionsMax?: number;
  /** Each connection acts as this role when it exists and the user may; else as the user of the URL. */
  readonly role?: string;
  /** Told of idle connections that broke. They are replaced without further ado. */
  readonly onError?: (error: Error) => void;
};

export type Rows<R> = { readonly rows: R[]; readonly rowCount: number };

export type DbClient = { query<R = Row>(sql: string, params?: readonly unknown[]): Promise<Rows<R>> };

export type Db = DbClient & {
  readonly kysely: Kysely<Database>;
  /** One connection for several statements. An open transaction is rolled back by closing the connection. */
  withClient<T>(use: (client: DbClient) => Promise<T>): Promise<T>;
  /** Waits for statements that run, then closes. Repeats are harmless. */
  close(): Promise<void>;
  stats(): { readonly open: number; readonly idle: number; readonly waiting: number };
};

// deno-lint-ignore no-explicit-any -- a caller that names no row type asserts nothing about columns
type Row = any;

/** Architecture, section 2: pool 8 + 1 LISTEN per process; its timeouts. */
const CONNECTIONS_MAX = 8;
const STATEMENT_LIMIT_MS = 5_000;
const LOCK_LIMIT_MS = 250;
/** reliability.md 4.6. */
const IDLE_IN_TRANSACTION_MS = 10_000;
/** Both for reaching the server and for waiting until a connection is free: then the caller sheds load. */
const CONNECT_LIMIT_MS = 5_000;
/** How much longer than the server's own limit we wait before we take the connection for dead. */
const READ_GRACE_MS = 3_000;
const KEEP_IDLE_MS = 60_000;
const KEEPALIVE_AFTER_MS = 10_000;

const SET_ROLE = `select set_config('role', rolname, false) from pg_roles where rolname = $1
  and pg_has_role(oid, case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end)`;

/** Opens nothing yet: the first statement connects. */
export function openPool(options: PoolOptions): Db {
  const pool = new pg.Pool({
    ...clientConfig(options),
    max: options.connectionsMax ?? CONNECTIONS_MAX,
    idleTimeoutMillis: KEEP_IDLE_MS,
    onConnect: (client) => prepare(client, options.role),
  });
  pool.on("error", (error) => options.onError?.(error));
  const connect = async () => lease(await pool.connect());

  async function withClient<T>(use: (client: DbClient) => Promise<T>): Promise<T> {
    const leased = await connect();
    try {
      return await use({ query: (sql, params = []) => leased.query(sql, params).then(toRows) });
    } finally {
      leased.release();
    }
  }

  let closing: Promise<void> | undefined;
  const close = () => closing ??= pool.end();
  // Kysely's type also offers cursors, which it uses only when given a cursor class; we give none.
  const kyselyConnect = connect as () => Promise<unknown> as () => Promise<PostgresPoolClient>;
  const kyselyPool = { connect: kyselyConnect, end: close, options: pool.options, Client: pg.Client };
  return {
    kysely: new Kysely<Database>({ dialect: new PostgresDialect({ pool: kyselyPool }) }),
    query: (sql, params) => withClient((client) => client.query(sql, params)),
    withClient,
    close,
    stats: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
  };
}

export type Connection = pg.Client;

/** One connection outside the pool, open. For LISTEN, migrations and administration. */
export async function openClient(options: ConnectOptions): Promise<Connection> {
  const client = new pg.Client(clientConfig(options));
  client.on("error", () => {}); // Without a listener a broken connection would end the process; the next query tells.
  await client.connect();
  return client;
}

async function prepare(client: pg.ClientBase, role: string | undefined): Promise<void> {
  client.on("error", () => {}); // While leased, the pool does not listen; the statement that runs is told.
  if (role !== undefined) await client.query(SET_ROLE, [role]);
}

type Lease = {
  query<R = Row>(sql: string, params: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  release(discard?: boolean): void;
};

/** A connection on loan, which notices what would make it unfit for the next borrower. */
function lease(client: pg.PoolClient): Lease {
  let broken = false;
  return {
    query: <R>(sql: string, params: readonly unknown[]) => {
      const answer = client.query(sql, [...params]).catch((error) => {
        broken ||= isConnectionError(error);
        throw error;
      });
      // The driver types the command as any text; Kysely knows which ones there are.
      return answer as Promise<PostgresQueryResult<R>>;
    },
    release: (discard = false) => client.release(discard || broken || client.getTransactionStatus() !== "I"),
  };
}

function toRows<R>(result: PostgresQueryResult<R>): Rows<R> {
  return { rows: result.rows, rowCount: result.rowCount ?? 0 };
}

function clientConfig(options: ConnectOptions): pg.ClientConfig {
  const statement_timeout = options.statementLimit_ms ?? STATEMENT_LIMIT_MS;
  return {
    connectionString: strictTls(options.url),
    application_name: options.applicationName ?? "berth",
    statement_timeout,
    lock_timeout: options.lockLimit_ms ?? LOCK_LIMIT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    // The server's limit does not help when the server or the way to it is gone.
    query_timeout: statement_timeout + READ_GRACE_MS,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_AFTER_MS,
    types: { getTypeParser },
  };
}

const OID = { int8: 20, int8Array: 1016, date: 1082 } as const;

/** int8 as a number, date as its text; the driver's own choice for the rest: numeric is text, timestamptz a Date. */
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: "text" | "binary") => {
  const standard = pg.types.getTypeParser(oid, format as "text");
  if (format === "binary") return standard;
  switch (oid) {
    case OID.int8:
      return exactNumber;
    case OID.int8Array:
      return (text: string) => deepMap(standard(text), exactNumber);
    case OID.date: // A day has no midnight until somebody names a zone.
      return (text: string) => text;
    default:
      return standard;
  }
};

/** Throws a RangeError rather than round: ids and byte counts must be exact. */
function exactNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 ${text} does not fit a JavaScript number`);
  return value;
}

function deepMap(value: unknown, map: (text: string) => number): unknown {
  if (Array.isArray(value)) return value.map((item) => deepMap(item, map));
  return typeof value === "string" ? map(value) : value;
}
