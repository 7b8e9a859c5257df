// A job is claimed by one node, at most once, and ends exactly once. It is never queued again: partial work may exist. A
// job that is taken from its node leaves a tombstone, until the node has undone its part and says so.

type JobBase = {
  readonly id: string;
  readonly kind: string;
  readonly target_cn: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The operation that waits for it. */
  readonly saga_id: string;
  readonly created_at: Date;
};

type Claim = {
  readonly claimed_by: string;
  readonly claimed_at: Date;
  readonly lease_s: number;
  readonly lease_until: Date;
  /** When a heartbeat last named the job: a signal, joined by the view and never written with the state. */
  readonly renewed_at?: Date | null;
};

/** `claimed_by` is null when nobody had begun it. */
type Taken = {
  readonly reason: string;
  readonly tombstone: boolean;
  /** What the saga wants to be told when the tombstone is applied. */
  readonly burial_told_as?: string | null;
  readonly claimed_by: string | null;
  readonly completed_at: Date;
  /** `{detail}`: what the node says to operators alone. */
  readonly result?: unknown;
};

export type JobState =
  | (JobBase & { readonly state: "pending" })
  | (JobBase & Claim & { readonly state: "in_progress" })
  | (JobBase & Claim & { readonly state: "completed"; readonly result: unknown; readonly completed_at: Date })
  | (JobBase & Taken & { readonly state: "failed" })
  | (JobBase & Taken & { readonly state: "cancelled" });
