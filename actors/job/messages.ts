// What a job can be told. A job is work for one node agent; nothing outside it may repeat it.
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
  | { readonly type: "fail"; readonly by: string; readonly reason: string }
  | { readonly type: "cancel"; readonly reason: string }
  /** The node confirms that it has applied the tombstone of a cancelled job. */
  | { readonly type: "bury"; readonly by: string }
  | { readonly type: "tick" };
