// A check of the doctor is one query. Every row that it answers is something that is not as it should be, in words of
// its column `what`; no row is right. Nothing here may show a secret: rows name objects by id, state and number.

export type Check = {
  /** INV-n for an invariant of the design, a word for what an operator wants to know. */
  readonly id: string;
  /** What is so when the check finds nothing. */
  readonly title: string;
  /** fail: a promise is broken. warn: the system works, with a drawback. */
  readonly severity: "warn" | "fail";
  readonly query: string;
  /** What to do about it. Null for a broken invariant: that is a bug, see MEND_BROKEN. */
  readonly mend: string | null;
};

/** A promise that the control plane makes. */
export function invariant(id: string, title: string, query: string): Check {
  return { id, title, severity: "fail", query, mend: null };
}

/** What no query can tell, and where it is tried instead. */
export type Outside = { readonly id: string; readonly title: string; readonly reason: string };
