// Defines a saga of the simulator that waits for a node's agent, so that runs use jobs, tells and the outbox. When the
// job ends, the step `report` runs in the same commit. In a guarded errand, this step has a condition, so it cannot
// join the commit (see Tell). The message about the job's end then waits in the outbox.
import { withActor, withNewActor } from "../../actors/engine/effects.ts";
import { job, saga, write } from "../../actors/engine/saga.ts";
import type { Behavior } from "../../actors/engine/types.ts";
import { lamp, type LampMessage, type LampState } from "../engine/probe.ts";

export type ErrandParams = { readonly server_uuid: string; readonly guarded?: boolean };

/**
 * The lamp of an errand. Only sagas send messages to it. It has a kind of its own, because clients send messages to the
 * other lamps.
 */
export const errandLamp: Behavior<LampState, LampMessage> = { ...lamp, kind: "errand-lamp", table: "errand_lamp" };

/** A time limit longer than any run. So a saga that waits for a lost tell does not end, and the checker reports it. */
const LIMIT_MS = 24 * 60 * 60 * 1_000;

export const errand = saga<ErrandParams>("errand")
  .step("note", { do: () => write({ noted: true }), undo: () => write(null) })
  .step("light", {
    do({ params, id }) {
      if (!params.guarded) return write(null);
      const lamp_id = id("lamp");
      return write({ lamp_id }, withNewActor({ kind: errandLamp.kind, id: lamp_id }, { type: "make", id: lamp_id }));
    },
  })
  .step("walk", {
    kind: "job",
    do: (c) => job({ kind: "walk", target_cn: c.params.server_uuid, payload: {}, limit_ms: LIMIT_MS }),
  })
  .step("report", {
    follows: true,
    do({ walk, light }) {
      // The condition never refuses: an actor must not refuse a step with `follows`.
      const guarded = light === null ? [] : [withActor({ kind: errandLamp.kind, id: light.lamp_id }, GUARDED)];
      return write({ walked: walk ?? true }, ...guarded);
    },
  })
  .step("close", { do: () => write(null) });

const GUARDED = { type: "guarded", allow: true };
