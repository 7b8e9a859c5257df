// What the exit code means. A scheduler acts on these numbers.
export const EXIT = {
  ok: 0,
  /** A vendor failed and keeps its last good files, or verify found problems. What could be published was. */
  failure: 1,
  usage: 2,
  /** The site cannot be read or written: nothing was changed. */
  site: 3,
  /** Published, with something that an attacker could have caused: a changed digest, a frozen document. */
  alarm: 4,
  /** Another builder is at work on the same site (EX_TEMPFAIL). */
  busy: 75,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
