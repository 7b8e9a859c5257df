// What the exit code of an executable means. Scripts rely on these numbers.

export const EXIT = {
  ok: 0,
  /** Refused or failed, or a check found something wrong. */
  failure: 1,
  usage: 2,
  not_found: 3,
  auth: 4,
  conflict: 5,
  wait_timeout: 6,
  /** Nothing came back from the control plane, or that it cannot answer now. Nobody knows yet; ask again later. */
  unreachable: 7,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export function exitCodeOfStatus(http_status: number): ExitCode {
  switch (http_status) {
    case 401:
    case 403:
      return EXIT.auth;
    case 404:
      return EXIT.not_found;
    case 409:
    // Somebody else changed it since it was read.
    case 412:
      return EXIT.conflict;
    case 503:
    case 504:
      return EXIT.unreachable;
    default:
      return EXIT.failure;
  }
}
