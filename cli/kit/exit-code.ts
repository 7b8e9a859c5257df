// What the exit code of an executable means. Scripts rely on these numbers.

export const EXIT = {
  ok: 0,
  /** The server refused or failed, or could not be reached. */
  failure: 1,
  usage: 2,
  not_found: 3,
  auth: 4,
  conflict: 5,
  wait_timeout: 6,
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
    default:
      return EXIT.failure;
  }
}
