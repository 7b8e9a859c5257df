// Determines the kind of failure of a fetch. The error itself may contain addresses that only this site's resolver
// knows. Callers that must not show these addresses use the kind.
import { FetchRefused, NotConnected } from "./connector.ts";

export const FETCH_FAILURES = ["refused", "no_name", "not_connected", "tls", "timeout", "not_http", "broken"] as const;
export type FetchFailure = (typeof FETCH_FAILURES)[number];

/** An error of the outbound process, with its kind. */
export class RemoteFailure extends Error {
  override readonly name = "RemoteFailure";
  constructor(message: string, readonly failure: FetchFailure) {
    super(message);
  }
}

/** Returns the kind of an error that a fetch threw, in this process or in the outbound process. */
export function failureOf(error: unknown): FetchFailure {
  if (error instanceof RemoteFailure) return error.failure;
  if (error instanceof FetchRefused) return "refused";
  const [name, code] = error instanceof Error ? [error.name, codeOf(error)] : ["", ""];
  if (name === "TimeoutError") return "timeout";
  if (/^(?:ENOTFOUND|EAI_)/.test(code)) return "no_name";
  if (error instanceof NotConnected) return /certificate|tls|ssl/i.test(textsOf(error)) ? "tls" : "not_connected";
  return /^HPE_/.test(code) || /parse|invalid http/i.test(textsOf(error)) ? "not_http" : "broken";
}

function codeOf(error: Error): string {
  return "code" in error ? String(error.code) : "";
}

function textsOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return `${error.message} ${codeOf(error)} ${textsOf(error.cause)}`;
}
