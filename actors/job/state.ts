// The states of a job, with the columns of each. A job is claimed at most once, by one node, and ends exactly once. It
// is never queued again, because partial work may exist. A claimed job that expires or is cancelled leaves a tombstone
// until the node reports that it has undone its part.

type JobBase = {
  readonly id: string;
  readonly kind: string;
  readonly target_cn: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The operation that enqueued the job. Some operations do not wait for the job. */
  readonly saga_id: string;
  readonly created_at: Date;
};

type Claim = {
  readonly claimed_by: string;
  readonly claimed_at: Date;
  readonly lease_s: number;
  readonly lease_until: Date;
  /** The last heartbeat that listed the job. The view joins this signal; transitions never write it. */
  readonly renewed_at?: Date | null;
};

/** The end of a failed or cancelled job. `claimed_by` is null when no node claimed it. */
type Taken = {
  readonly reason: string;
  readonly tombstone: boolean;
  /** The id of the `job_ended` that the saga gets when the node has applied the tombstone. */
  readonly burial_told_as?: string | null;
  readonly claimed_by: string | null;
  readonly completed_at: Date;
  /** `{detail}`: the node's text for operators. */
  readonly result?: unknown;
};

export type JobState =
  | (JobBase & { readonly state: "pending" })
  | (JobBase & Claim & { readonly state: "in_progress" })
  | (JobBase & Claim & { readonly state: "completed"; readonly result: unknown; readonly completed_at: Date })
  | (JobBase & Taken & { readonly state: "failed" })
  | (JobBase & Taken & { readonly state: "cancelled" });
