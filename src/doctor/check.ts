// A check of the doctor is one query. Each row is a violation, described in its column `what`; an empty result passes. Rows
// must not show secrets: they name objects by id, state and number.

export type Check = {
  /** INV-n for an invariant, a short name for a condition. */
  readonly id: string;
  /** The rule, as a statement that is true when the check finds nothing. */
  readonly title: string;
  /** fail: a promise is broken. warn: the system works with a drawback. */
  readonly severity: "warn" | "fail";
  readonly query: string;
  /** The remedy. Null for a violated invariant, which is a bug: see BROKEN. */
  readonly fix: string | null;
};

/** Creates the check of a promise of the control plane. */
export function invariant(id: string, title: string, query: string): Check {
  return { id, title, severity: "fail", query, fix: null };
}

/** An invariant that no query can check, with the reason. */
export type Outside = { readonly id: string; readonly title: string; readonly reason: string };
