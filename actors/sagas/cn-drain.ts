// Drains a node. The first step commits with the request (cn/drain.ts). The second step waits for the background
// worker, which begins the migrations and reports the end (src/workers/drains.ts). An abandoned drain begins no more
// migrations. Migrations that have begun continue, and the node stays cordoned.
import { DRAIN_LIMIT_MS } from "../../src/contract/limits.ts";
import type { DrainResult } from "../../src/contract/drain.ts";
import { CN_DRAIN, type CnDrainParams } from "../cn/drain.ts";
import { saga, wait, write } from "../engine/saga.ts";
import { DRAIN } from "../../src/lib/placement/node-filters.ts";

export const cnDrain = saga<CnDrainParams>(CN_DRAIN.saga)
  .step(CN_DRAIN.cordoned, { do: () => write({ cordoned_reason: DRAIN }) })
  .step(CN_DRAIN.move, { kind: "wait", do: () => wait<DrainResult>(DRAIN_LIMIT_MS) });
