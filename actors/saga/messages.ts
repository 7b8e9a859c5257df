// The messages of a saga.
import type { Json } from "../engine/types.ts";
import type { Ending } from "./state.ts";
import type { Reference } from "../../src/contract/operation.ts";

export type SagaMessage =
  | {
    readonly type: "start";
    readonly id: string;
    readonly saga: string;
    readonly params: Json;
    readonly references: readonly Reference[];
    /**
     * Steps that the sender commits with the start, and their outputs. The saga can undo these steps but does not do
     * them again.
     */
    readonly done?: Readonly<Record<string, Json>>;
    /** The answer to the sender. Default: the view of the saga. */
    readonly reply?: Json;
  }
  /** Runs the current step, or ends the step's wait if the wait has exceeded its time limit. */
  | { readonly type: "tick" }
  /**
   * The commit of the step was refused. A running saga unwinds. An unwinding saga retries the undo, and is stuck after
   * UNDO_TRIES_MAX attempts.
   */
  | { readonly type: "step_refused"; readonly step: string; readonly reason: string }
  /** A job ended, or the event of a `wait` step happened. */
  | ({ readonly type: "job_ended"; readonly job_id: string } & Ending)
  | { readonly type: "abandon" };
