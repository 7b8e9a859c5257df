// Drains the nodes with a label. The first step commits with the request. The second step waits for the background
// worker, which begins the drains of the nodes and reports the end (src/workers/label-drains.ts). An abandoned
// operation begins no more drains. Drains that have begun continue.
import { LABEL_DRAIN_LIMIT_MS } from "../../src/contract/limits.ts";
import type { LabelDrainResult } from "../../src/contract/label-drain.ts";
import { CN_DRAIN_LABEL, type LabelDrainParams } from "../cn/messages.ts";
import { audit } from "../engine/effects.ts";
import { saga, wait, write } from "../engine/saga.ts";

export const cnDrainLabel = saga<LabelDrainParams>(CN_DRAIN_LABEL.saga)
  .step(CN_DRAIN_LABEL.begun, {
    follows: true,
    do: ({ params: { label, max_unavailable, nodes }, saga_id }) =>
      write(
        null,
        audit("cn_drain_label", `Operation::"${saga_id}"`, {
          operation_id: saga_id,
          label,
          max_unavailable,
          nodes: nodes.map(({ server_uuid }) => server_uuid),
        }),
      ),
  })
  .step(CN_DRAIN_LABEL.drain, { kind: "wait", do: () => wait<LabelDrainResult>(LABEL_DRAIN_LIMIT_MS) });
