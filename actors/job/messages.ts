// What a job can be told. A job is work for one node agent; nothing outside it may repeat it.
//
// What a job tells: its saga hears `job_ended`, once. Where its payload names an instance_id, that instance steps in the
// same commit when the node takes the job: `job_claimed` {job_id, job_kind}. When a tombstone is applied, the saga hears
// `job_ended` again, under the name that it asked for with `await_burial`.
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
    /** What operators read beside the reason; tenants never do. */
    readonly detail: string | null;
  }
  | { readonly type: "cancel"; readonly reason: string }
  /** The node confirms that it has applied the tombstone of a job that was taken from it. */
  | { readonly type: "bury"; readonly by: string }
  /** The saga, which unwinds, wants to be told under this name once the node has nothing of the job to undo. */
  | { readonly type: "await_burial"; readonly saga_id: string; readonly told_as: string }
  | { readonly type: "tick" };
