// Defines a saga of the simulator that waits for a node's agent, so that runs use jobs, tells and the outbox.
import { job, saga, write } from "../../actors/engine/saga.ts";

export type ErrandParams = { readonly server_uuid: string };

/** A time limit longer than any run. So a saga that waits for a lost tell does not end, and the checker reports it. */
const LIMIT_MS = 24 * 60 * 60 * 1_000;

export const errand = saga<ErrandParams>("errand")
  .step("note", { do: () => write({ noted: true }), undo: () => write(null) })
  .step("walk", {
    kind: "job",
    do: (c) => job({ kind: "walk", target_cn: c.params.server_uuid, payload: {}, limit_ms: LIMIT_MS }),
  })
  .step("report", { follows: true, do: (c) => write({ walked: c.walk ?? true }) })
  .step("close", { do: () => write(null) });
