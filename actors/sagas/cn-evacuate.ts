// Evacuates a dead node. The first step commits with the request (cn/drain.ts). The second step waits for the
// background worker, which begins the evacuations of the instances and reports the end (src/workers/drains.ts). An
// abandoned operation begins no more evacuations of instances. Evacuations that have begun continue, and the node stays
// cordoned.
import { DRAIN_LIMIT_MS } from "../../src/contract/limits.ts";
import type { DrainResult } from "../../src/contract/drain.ts";
import { CN_EVACUATE, type CnDrainParams } from "../cn/drain.ts";
import { saga, wait, write } from "../engine/saga.ts";
import { DRAIN } from "../../src/lib/placement/node-filters.ts";

export const cnEvacuate = saga<CnDrainParams>(CN_EVACUATE.saga)
  .step(CN_EVACUATE.cordoned, { do: () => write({ cordoned_reason: DRAIN }) })
  .step(CN_EVACUATE.move, { kind: "wait", do: () => wait<DrainResult>(DRAIN_LIMIT_MS) });
