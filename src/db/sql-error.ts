// Classifies failed statements. If PostgreSQL returned an error, the statement had no effect. If the connection broke,
// the statement may have been committed. A commit of a message is then safe to repeat only with the same message id.

type Failure = {
  code?: unknown;
  severity?: unknown;
  constraint?: unknown;
  message?: unknown;
  cause?: unknown;
  errors?: unknown;
};

/** Node.js error codes of sockets and name look-ups. */
const SOCKET_CODES: ReadonlySet<string> = new Set([
  ...["ECONNRESET", "ECONNREFUSED", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "ENOTCONN", "EHOSTUNREACH", "ENETUNREACH"],
  ...["ENETDOWN", "ENOTFOUND", "EAI_AGAIN", "ENOENT", "ERR_STREAM_DESTROYED", "ERR_STREAM_WRITE_AFTER_END"],
  ...["ERR_SOCKET_CLOSED"],
]);

/**
 * SQLSTATEs with which PostgreSQL ends a session or does not accept one. Class 08 (connection exception) also counts.
 */
const SESSION_STATES: ReadonlySet<string> = new Set([
  "57P01", // admin_shutdown: also pg_terminate_backend
  "57P02", // crash_shutdown
  "57P03", // cannot_connect_now: starting up or shutting down
  "57P05", // idle_session_timeout
  "25P03", // idle_in_transaction_session_timeout
  "25P04", // transaction_timeout
  "53300", // too_many_connections
]);

/** SQLSTATE of a statement that took longer than statement_timeout. */
const QUERY_CANCELED = "57014";

/** The driver's messages for a broken connection, in errors without a code. */
const DRIVER_WORDS =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed and is not queryable)/;

/**
 * The driver's messages after a timeout. The driver waited for a reply, a new connection, or a free connection of the
 * pool.
 */
const SILENCE_WORDS =
  /^(Connection terminated due to connection timeout|timeout exceeded when trying to connect|timeout expired|Query read timeout)/;

/** The error for a server that is a standby or forbids writes. The connection is closed and counts as failed. */
export class NotPrimary extends Error {
  constructor() {
    super("The database server accepts no writes: it is a standby, or a failover is in progress");
  }
}

/** Returns PostgreSQL's five-character SQLSTATE, or undefined when the error is not from PostgreSQL. */
export function sqlState(error: unknown): string | undefined {
  // Socket errors also have a code ("EPIPE" even has five characters), but only PostgreSQL's errors have a severity.
  const { code, severity } = asFailure(error);
  return typeof code === "string" && typeof severity === "string" ? code : undefined;
}

/** Returns the name of the violated constraint, or undefined. */
export function sqlConstraint(error: unknown): string | undefined {
  const { constraint } = asFailure(error);
  return typeof constraint === "string" ? constraint : undefined;
}

/** Returns whether the connection broke or could not be opened. If it broke, the statement's effect is unknown. */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof NotPrimary) return true;
  const state = sqlState(error);
  if (state !== undefined) return state.startsWith("08") || SESSION_STATES.has(state);
  const { code, message, cause, errors } = asFailure(error);
  if (typeof code === "string" && SOCKET_CODES.has(code)) return true;
  if (typeof message === "string" && DRIVER_WORDS.test(message)) return true;
  // An AggregateError has one error for each address of the host.
  if (Array.isArray(errors)) return errors.some(isConnectionError);
  return cause !== undefined && isConnectionError(cause);
}

/** Returns whether a connection error is a timeout, not a closed connection. */
export function isSilence(error: unknown): boolean {
  const { message, cause } = asFailure(error);
  if (typeof message === "string" && SILENCE_WORDS.test(message)) return true;
  return cause !== undefined && isSilence(cause);
}

/**
 * Returns whether a time limit ended the statement: PostgreSQL cancelled it, or the driver waited too long for the
 * connection or for the reply.
 */
export function isTimeout(error: unknown): boolean {
  return sqlState(error) === QUERY_CANCELED || isSilence(error);
}

function asFailure(error: unknown): Failure {
  return typeof error === "object" && error !== null ? error : {};
}
