// A violation: an invariant that does not hold in a simulated history.

/** The invariants of the checker, with their numbers in docs/reliability.md. */
export type Invariant =
  | "1 acknowledged means durable"
  | "2 legal path"
  | "3 refused means untouched"
  | "3b justified answer"
  | "4 unknown means at most once"
  | "5 order of time"
  | "6 one writer"
  | "9 credentials"
  | "10 operations come to rest"
  | "12 jobs"
  | "14 auto-approve window"
  | "16 nothing dangles"
  | "17 audit"
  | "no bug";

export type Violation = {
  readonly invariant: Invariant;
  /** The key of the actor concerned, or a name such as "outbox" if there is no actor. */
  readonly about: string;
  readonly text: string;
};
