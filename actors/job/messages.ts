// The messages of a job. A job is work for one node agent and is never repeated.
//
// When a job completes, fails or expires, it sends `job_ended` to its saga, in the same commit if possible. A cancelled
// job sends no `job_ended`, because the saga itself cancelled the job. A saga that must wait until the node has undone
// the job sends `await_burial`. The job answers with a `job_ended` that has the id in `await_burial`: when the node has
// undone the job, or at once if nothing must be undone.
//
// If the payload of a job has an instance_id, the claim of the job sends `job_claimed` {job_id, job_kind} to that
// instance in the same commit.
import type { Json } from "../engine/types.ts";

export type JobMessage =
  | {
    readonly type: "enqueue";
    readonly id: string;
    readonly kind: string;
    readonly target_cn: string;
    readonly payload: Json;
    readonly saga_id: string;
  }
  | { readonly type: "claim"; readonly by: string; readonly lease_s: number }
  | { readonly type: "complete"; readonly by: string; readonly result: Json }
  | {
    readonly type: "fail";
    readonly by: string;
    readonly reason: string;
    /** Details for operators. Tenants never see them. */
    readonly detail: string | null;
  }
  | { readonly type: "cancel"; readonly reason: string }
  /** The node confirms that it applied the tombstone of a cancelled or expired job. */
  | { readonly type: "bury"; readonly by: string }
  /**
   * The unwinding saga asks for `job_ended` with the id `told_as`. The job sends `job_ended` when its node has nothing
   * left to undo.
   */
  | { readonly type: "await_burial"; readonly saga_id: string; readonly told_as: string }
  | { readonly type: "tick" };
