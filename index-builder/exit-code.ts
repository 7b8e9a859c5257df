// Exit codes. Schedulers depend on these numbers.
export const EXIT = {
  ok: 0,
  /** A vendor failed: its last good files stay, and the other vendors were published. Or `verify` found problems. */
  failure: 1,
  usage: 2,
  /** The site cannot be read or written. Nothing changed. */
  site: 3,
  /**
   * The site was published with an alarm: a finding that an attacker could have caused, for example a changed digest.
   */
  alarm: 4,
  /** Another builder runs on the same site (EX_TEMPFAIL). */
  busy: 75,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
