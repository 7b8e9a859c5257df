// What a running saga can be told.
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
    /** Steps that the sender commits together with the start, with their outputs: they are undone, but not done again. */
    readonly done?: Readonly<Record<string, Json>>;
  }
  /** Do the current step, or give up waiting for its job. */
  | { readonly type: "tick" }
  /** The step's unit was refused: the saga unwinds, or tries its undo again. */
  | { readonly type: "step_refused"; readonly step: string; readonly reason: string }
  /** A job, or what a wait step waits for, has come to its end. */
  | ({ readonly type: "job_ended"; readonly job_id: string } & Ending)
  | { readonly type: "abandon" };
