// Defines failures for the user. A failure has a message and an exit code. A failure from the server also has the
// server's error code and request id.
import { EXIT, type ExitCode, exitCodeOfStatus } from "./exit-code.ts";
import { plainJson, plainText } from "./plain-text.ts";

export class Failure extends Error {
  readonly exit_code: ExitCode;
  readonly status: number | null;
  readonly error_code: string | null;
  readonly request_id: string | null;
  /** The server may have received a request that changes something, and its response is lost. */
  readonly is_uncertain: boolean;

  constructor(
    message: string,
    exit_code: ExitCode,
    server: { status?: number; error_code?: string | null; request_id?: string | null; is_uncertain?: boolean } = {},
  ) {
    super(message);
    this.exit_code = exit_code;
    this.status = server.status ?? null;
    this.error_code = server.error_code ?? null;
    this.request_id = server.request_id ?? null;
    this.is_uncertain = server.is_uncertain ?? false;
  }
}

/** Returns the same failure with another message. */
export function reworded(failure: Failure, message: string): Failure {
  const { exit_code, status, error_code, request_id, is_uncertain } = failure;
  return new Failure(message, exit_code, { ...status !== null && { status }, error_code, request_id, is_uncertain });
}

/** Ends a command that has already printed the reason. */
export class Ended extends Failure {
  constructor(exit_code: ExitCode) {
    super("", exit_code);
  }
}

export function usageFailure(message: string): Failure {
  return new Failure(message, EXIT.usage);
}

/**
 * Returns the failure of a 4xx or 5xx response. If the body has no message, as in a proxy's page, the failure names the
 * status.
 */
export function failureOfAnswer(status: number, body: unknown, retry_after_s: number | null): Failure {
  const fields = typeof body === "object" && body !== null ? body as Record<string, unknown> : {};
  const text = typeof fields.message === "string" && fields.message !== ""
    ? fields.message
    : `the server responded with status ${status}`;
  const names_delay = text.includes("try again in");
  const says_later = (status === 429 || status === 503) && retry_after_s !== null && !names_delay;
  const later = says_later ? `; try again in ${retry_after_s} s` : "";
  return new Failure(text + later, exitCodeOfStatus(status), {
    status,
    error_code: textOrNull(fields.error_code),
    request_id: textOrNull(fields.request_id),
  });
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/**
 * Returns `error: <message> (<error_code>, request <request_id>)`, or JSON that also has the status and the exit code.
 * If the message has several lines, the error code and the request id are in the first line.
 */
export function failureText(failure: Failure, json: boolean): string {
  const { message, exit_code, status, error_code, request_id } = failure;
  if (json) return plainJson({ error: { message, error_code, request_id, status, exit_code } });
  const source = [error_code, request_id === null ? null : `request ${request_id}`].filter((part) => part !== null);
  const [first = "", ...more] = message.split("\n").map(plainText);
  const from = source.length === 0 ? "" : ` (${plainText(source.join(", "))})`;
  return [`error: ${first}${from}`, ...more].join("\n");
}
