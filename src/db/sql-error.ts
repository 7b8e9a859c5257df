// What a failed statement means. Two families: PostgreSQL answered (the statement had no effect), or the connection
// broke (it may have been committed: only a repeat with the same message id is safe).

type Failure = {
  code?: unknown;
  severity?: unknown;
  constraint?: unknown;
  message?: unknown;
  cause?: unknown;
  errors?: unknown;
};

/** Errors of sockets and name look-up, in Node's spelling. */
const SOCKET_CODES: ReadonlySet<string> = new Set([
  ...["ECONNRESET", "ECONNREFUSED", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "ENOTCONN", "EHOSTUNREACH", "ENETUNREACH"],
  ...["ENETDOWN", "ENOTFOUND", "EAI_AGAIN", "ENOENT", "ERR_STREAM_DESTROYED", "ERR_STREAM_WRITE_AFTER_END"],
  ...["ERR_SOCKET_CLOSED"],
]);

/** PostgreSQL says goodbye, or is not ready yet. Class 08 (connection exception) belongs here too. */
const SESSION_STATES: ReadonlySet<string> = new Set([
  "57P01", // admin_shutdown: also pg_terminate_backend
  "57P02", // crash_shutdown
  "57P03", // cannot_connect_now: starting up or shutting down
  "57P05", // idle_session_timeout
  "25P03", // idle_in_transaction_session_timeout
  "25P04", // transaction_timeout
  "53300", // too_many_connections
]);

/** The driver's own words for the same, where it gives no code. */
const DRIVER_WORDS =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed and is not queryable)/;

/** What the driver says when it has waited for as long as it may: for an answer, for the server, or for a free connection. */
const SILENCE_WORDS =
  /^(Connection terminated due to connection timeout|timeout exceeded when trying to connect|timeout expired|Query read timeout)/;

/** The five-character SQLSTATE that PostgreSQL answered, or undefined when the error is not its answer. */
export function sqlState(error: unknown): string | undefined {
  // Socket errors have codes too ("EPIPE" even has five characters); only PostgreSQL's answers have a severity.
  const { code, severity } = asFailure(error);
  return typeof code === "string" && typeof severity === "string" ? code : undefined;
}

/** The name of the constraint that refused, or undefined. */
export function sqlConstraint(error: unknown): string | undefined {
  const { constraint } = asFailure(error);
  return typeof constraint === "string" ? constraint : undefined;
}

/** True when the connection broke or could not be made, so that nobody knows whether the statement took effect. */
export function isConnectionError(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return state.startsWith("08") || SESSION_STATES.has(state);
  const { code, message, cause, errors } = asFailure(error);
  if (typeof code === "string" && SOCKET_CODES.has(code)) return true;
  if (typeof message === "string" && DRIVER_WORDS.test(message)) return true;
  if (Array.isArray(errors)) return errors.some(isConnectionError); // One per address of the host.
  return cause !== undefined && isConnectionError(cause);
}

/** True when a connection error is not the end of a connection, but that nothing came for as long as we wait. */
export function isSilence(error: unknown): boolean {
  const { message, cause } = asFailure(error);
  if (typeof message === "string" && SILENCE_WORDS.test(message)) return true;
  return cause !== undefined && isSilence(cause);
}

function asFailure(error: unknown): Failure {
  return typeof error === "object" && error !== null ? error : {};
}
