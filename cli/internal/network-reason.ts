// Explains why a request got no answer. Runtimes have different texts for the same reason.

const REASONS: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED|ConnectionRefused|connection refused/i, "connection refused"],
  [/ENOTFOUND|EAI_AGAIN|failed to lookup address|dns error/i, "the host name is not known"],
  [/ECONNRESET|ConnectionReset|connection reset/i, "connection reset"],
];

/** The code in front of some messages of the runtime, such as `EPROTO: `. */
const SYSTEM_CODE = /^E[A-Z0-9]+: /;

/**
 * Returns the common text for a known reason, else the message of the error. Uses the innermost cause, because the
 * outer message of some runtimes is only "fetch failed".
 */
export function networkReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return networkReason(error.cause);
  const code = "code" in error ? String(error.code) : "";
  return REASONS.find(([pattern]) => pattern.test(`${code} ${error.message}`))?.[1] ??
    error.message.replace(SYSTEM_CODE, "");
}
