// A job is claimed by one node, at most once, and ends exactly once. It is never queued again: partial work may exist.

type JobBase = {
  readonly id: string;
  readonly kind: string;
  readonly target_cn: string;
  readonly payload: unknown;
  /** The operation that waits for it. */
  readonly saga_id: string;
  readonly created_at: Date;
};

type Claim = { readonly claimed_by: string; readonly claimed_at: Date; readonly lease_until: Date };

export type JobState =
  | (JobBase & { readonly state: "pending" })
  | (JobBase & Claim & { readonly state: "in_progress" })
  | (JobBase & Claim & { readonly state: "completed"; readonly result: unknown; readonly completed_at: Date })
  | (JobBase & { readonly state: "failed"; readonly reason: string; readonly completed_at: Date })
  /** `tombstone` stays true until the node that had claimed it has undone its part. */
  | (JobBase & {
    readonly state: "cancelled";
    readonly reason: string;
    readonly tombstone: boolean;
    readonly claimed_by: string | null;
    readonly completed_at: Date;
  });
