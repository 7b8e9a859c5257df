// Exit codes of the executables. Scripts rely on these numbers.

export const EXIT = {
  ok: 0,
  /** The request was rejected or failed, or a check found a problem. */
  failure: 1,
  usage: 2,
  not_found: 3,
  auth: 4,
  conflict: 5,
  wait_timeout: 6,
  /** No response, 503 or 504: the outcome may be unknown; retry later. */
  unreachable: 7,
  interrupted: 130,
} as const;

/** Exit codes that only index-builder has, or that have another meaning there. Schedulers rely on these numbers. */
export const INDEX_EXIT = {
  /** The site cannot be read or written, the new tree breaks a rule, or another error stopped the program. */
  site: 3,
  /**
   * No vendor failed, but there is an alarm: a finding that an attacker could have caused, for example a changed
   * digest.
   */
  alarm: 4,
  /** Another builder runs on the same site (EX_TEMPFAIL). */
  busy: 75,
} as const;

export type ExitCode =
  | (typeof EXIT)[keyof typeof EXIT]
  | (typeof INDEX_EXIT)[keyof typeof INDEX_EXIT];

export function exitCodeOfStatus(http_status: number): ExitCode {
  switch (http_status) {
    case 401:
    case 403:
      return EXIT.auth;
    case 404:
      return EXIT.not_found;
    case 409:
    // The record changed after it was read.
    case 412:
      return EXIT.conflict;
    case 503:
    case 504:
      return EXIT.unreachable;
    default:
      return EXIT.failure;
  }
}
