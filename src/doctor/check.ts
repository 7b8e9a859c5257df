// A check of the doctor is one query. Each row is a violation, described in its column `what`; an empty result passes.
// Rows must not contain secrets.

export type Check = {
  /** INV-n for an invariant, a short name for a condition. */
  readonly id: string;
  /** The rule that is checked, as a statement. The statement is true if the query returns no row. */
  readonly title: string;
  /**
   * The status if the query returns a row. fail: an invariant is violated, or background work does not progress. warn:
   * the system works, but an operator must act.
   */
  readonly severity: "warn" | "fail";
  readonly query: string;
  /** The action for the operator. Null for an invariant, whose violation is a bug (BROKEN in examine.ts). */
  readonly fix: string | null;
};

/** Creates the check of an invariant. A violation is always a failure. */
export function invariant(id: string, title: string, query: string): Check {
  return { id, title, severity: "fail", query, fix: null };
}

/** An invariant that no query can check, and the reason. */
export type Outside = { readonly id: string; readonly title: string; readonly reason: string };
