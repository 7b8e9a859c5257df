// Metrics of an instance (docs/instances.md, "Metrics").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { listMetrics } from "../../actors/instance/reads.ts";
import { atRow } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { InstanceMetrics, MetricsQuery } from "../contract/instance-metrics.ts";
import { AGENT_METRICS_MS } from "../contract/limits.ts";
import { answers, rights } from "./answer.ts";
import type { App, Reads } from "./deps.ts";

export function instanceMetricsRoutes(app: App, deps: Reads): void {
  const metricsRoute = createRoute({
    method: "get",
    path: "/v1/instances/{instance_id}/metrics",
    tags: ["Instances"],
    summary: "Read what an instance uses",
    description:
      "Counters of the processor, memory, disks and network, which the node reads every 15 s while the instance runs. " +
      "Samples are kept for one hour.",
    ...rights(deps, "InstanceMetrics", atRow("instance", "instance_id")),
    request: { params: z.object({ instance_id: Uuid }), query: MetricsQuery },
    responses: answers(InstanceMetrics, "The samples, oldest first"),
  });
  app.openapi(metricsRoute, async (c) => {
    const { instance_id } = c.req.valid("param");
    const samples = await listMetrics(deps.kysely, { instance_id, minutes: c.req.valid("query").minutes });
    return c.json({ instance_id, interval_s: AGENT_METRICS_MS / 1_000, samples }, 200);
  });
}
