// Defines the routes for metrics of an instance (docs/instances.md, "Metrics").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { listLoad, listMetrics } from "../../actors/instance/reads.ts";
import { atRow } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { InstanceLoad, InstanceMetrics, LoadQuery, MetricsQuery } from "../contract/instance-metrics.ts";
import { AGENT_METRICS_MS } from "../contract/limits.ts";
import { answers, rights } from "./answer.ts";
import type { App, Reads } from "./deps.ts";

export function instanceMetricsRoutes(app: App, deps: Reads): void {
  const metricsRoute = createRoute({
    method: "get",
    path: "/v1/instances/{instance_id}/metrics",
    tags: ["Instances"],
    summary: "Read the metrics of an instance",
    description:
      "Counters of the processor, memory, disks and network, which the node reads every 15 s while the instance " +
      "runs. Samples are kept for one hour.",
    ...rights(deps, "InstanceMetrics", atRow("instance", "instance_id")),
    request: { params: z.object({ instance_id: Uuid }), query: MetricsQuery },
    responses: answers(InstanceMetrics, "The samples, oldest first"),
  });
  app.openapi(metricsRoute, async (c) => {
    const { instance_id } = c.req.valid("param");
    const samples = await listMetrics(deps.kysely, { instance_id, minutes: c.req.valid("query").minutes });
    return c.json({ instance_id, interval_s: AGENT_METRICS_MS / 1_000, samples }, 200);
  });

  const loadRoute = createRoute({
    method: "get",
    path: "/v1/instances/{instance_id}/load",
    tags: ["Instances"],
    summary: "Read the load of an instance by the minute or by the hour",
    description:
      "Averages of the processor, memory, disks and network. The load of a minute appears within two minutes after " +
      "the minute's end. Simulated nodes report generated values.",
    ...rights(deps, "InstanceLoad", atRow("instance", "instance_id")),
    request: { params: z.object({ instance_id: Uuid }), query: LoadQuery },
    responses: answers(InstanceLoad, "The load, oldest first"),
  });
  app.openapi(loadRoute, async (c) => {
    const { instance_id } = c.req.valid("param");
    const { by } = c.req.valid("query");
    return c.json({ instance_id, by, ...await listLoad(deps.kysely, { instance_id, by }) }, 200);
  });
}
