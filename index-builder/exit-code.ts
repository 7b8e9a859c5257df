// Exit codes. Schedulers act on these numbers.
export const EXIT = {
  ok: 0,
  /** A vendor failed and keeps its last good files, or verify found problems. Everything else was published. */
  failure: 1,
  usage: 2,
  /** The site cannot be read or written. Nothing changed. */
  site: 3,
  /** Published, but an attacker could have caused a finding: a changed digest, a frozen document. */
  alarm: 4,
  /** Another builder runs on the same site (EX_TEMPFAIL). */
  busy: 75,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
