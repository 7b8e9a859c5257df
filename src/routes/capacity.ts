// Defines the routes with which operators read capacity and load (docs/instances.md, "Placement").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findNodeCapacity, readFleetLoad, readNodeLoad, sumFleetCapacity } from "../../actors/cn-load/reads.ts";
import { findCnSettings } from "../../actors/cn/reads.ts";
import { FleetCapacity, FleetLoad, NodeCapacity, NodeLoad } from "../contract/capacity.ts";
import { Uuid } from "../contract/common.ts";
import { NOT_FOUND } from "../contract/fault.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, rights } from "./answer.ts";
import type { App, Reads } from "./deps.ts";

const tags = ["Nodes"];
const params = z.object({ cn_id: Uuid });

export function capacityRoutes(app: App, deps: Reads): void {
  const fleetRoute = createRoute({
    method: "get",
    path: "/v1/system/capacity",
    tags,
    summary: "Show the capacity of the fleet",
    description:
      "The resources of approved nodes, the sums of the resources of their instances, and the sums of the tenants' quotas. " +
      "Quotas and overprovisioning can make these sums larger than the nodes' resources.",
    ...rights(deps, "SystemRead"),
    responses: answers(FleetCapacity, "The sums"),
  });
  app.openapi(fleetRoute, async (c) => c.json(await sumFleetCapacity(deps.kysely), 200));

  const loadRoute = createRoute({
    method: "get",
    path: "/v1/system/load",
    tags,
    summary: "Show the processor load of the fleet by hour",
    ...rights(deps, "SystemRead"),
    responses: answers(FleetLoad, "The load of each hour of the last 7 days"),
  });
  app.openapi(loadRoute, async (c) => c.json(await readFleetLoad(deps.kysely), 200));

  const nodeRoute = createRoute({
    method: "get",
    path: "/v1/system/cns/{cn_id}/capacity",
    tags,
    summary: "Show the capacity report of a node",
    ...rights(deps, "SystemRead"),
    request: { params },
    responses: answers(NodeCapacity, "The last report, and the sums of the resources of the node's instances"),
  });
  app.openapi(nodeRoute, async (c) => {
    const found = await findNodeCapacity(deps.kysely, c.req.valid("param").cn_id);
    return found === undefined ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });

  const nodeLoadRoute = createRoute({
    method: "get",
    path: "/v1/system/cns/{cn_id}/load",
    tags,
    summary: "Show the load of a node",
    ...rights(deps, "SystemRead"),
    request: { params },
    responses: answers(NodeLoad, "The samples of the last 5 minutes, and the load of each hour of the last 7 days"),
  });
  app.openapi(nodeLoadRoute, async (c) => {
    const { cn_id } = c.req.valid("param");
    if (await findCnSettings(deps.byKey, cn_id) === undefined) return faultResponse(c, NOT_FOUND);
    return c.json(await readNodeLoad(deps.kysely, cn_id), 200);
  });
}
