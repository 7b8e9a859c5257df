// A failure the user should read: words, an exit code and, when the server said it, its code and request id.
import { EXIT, type ExitCode, exitCodeOfStatus } from "./exit-code.ts";
import { plainJson, plainText } from "./plain-text.ts";

export class Failure extends Error {
  readonly exit_code: ExitCode;
  readonly status: number | null;
  readonly error_code: string | null;
  readonly request_id: string | null;

  constructor(
    message: string,
    exit_code: ExitCode,
    server: { status?: number; error_code?: string | null; request_id?: string | null } = {},
  ) {
    super(message);
    this.exit_code = exit_code;
    this.status = server.status ?? null;
    this.error_code = server.error_code ?? null;
    this.request_id = server.request_id ?? null;
  }
}

export function usageFailure(message: string): Failure {
  return new Failure(message, EXIT.usage);
}

/** What a 4xx or 5xx answer says. A body that is not ours (a proxy's page) is named by its status only. */
export function failureOfAnswer(status: number, body: unknown, retry_after_s: number | null): Failure {
  const told = typeof body === "object" && body !== null ? body as Record<string, unknown> : {};
  const argv = typeof told.message === "string" && told.message !== "" ? told.message : `the server answered ${status}`;
  const later = (status === 429 || status === 503) && retry_after_s !== null ? `; try again in ${retry_after_s} s` : "";
  return new Failure(argv + later, exitCodeOfStatus(status), {
    status,
    error_code: textOrNull(told.error_code),
    request_id: textOrNull(told.request_id),
  });
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** `error: <message> (<error_code>, request <request_id>)`, or the same as JSON. */
export function failureText(failure: Failure, json: boolean): string {
  const { message, exit_code, status, error_code, request_id } = failure;
  if (json) return plainJson({ error: { message, error_code, request_id, status, exit_code } });
  const source = [error_code, request_id === null ? null : `request ${request_id}`].filter((part) => part !== null);
  const lines = message.split("\n").map(plainText).join("\n");
  return `error: ${lines}${source.length === 0 ? "" : ` (${plainText(source.join(", "))})`}`;
}
