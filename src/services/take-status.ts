// Stores the status report of a node and compares it with the records of the node's instances.
import type { Fault } from "../contract/fault.ts";
import { redactSysinfo } from "../lib/text/redact-sysinfo.ts";
import type { Ctx, RouteDeps } from "../routes/deps.ts";
import { nodeOf } from "./calling-node.ts";
import { madeAt, reconcile } from "./reconcile.ts";
import { splitMetrics } from "./reported-metrics.ts";

type Deps = Pick<RouteDeps, "byKey" | "mint" | "newId" | "send" | "signals">;

/**
 * Returns null if the report is stored. If too many signals are queued, drops the report or its metrics and returns a
 * 503.
 */
export async function takeStatus(c: Ctx, deps: Deps, given: unknown): Promise<Fault | null> {
  const { payload, samples } = splitMetrics(given);
  const told = { id: deps.newId(), made_at: madeAt(payload) };
  const refusals = await Promise.all([
    deps.signals.status(nodeOf(c), redactSysinfo(payload), told),
    deps.signals.metrics(nodeOf(c), samples, told.made_at),
  ]);
  const refusal = refusals.find((each) => each !== null) ?? null;
  if (refusal === null) await reconcile(c, deps, { ...told, payload });
  return refusal;
}
