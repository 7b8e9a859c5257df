// Defines the routes for the heartbeats, the reports and the configuration of node agents (docs/nodes.md).
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findCnSettings } from "../../actors/cn/reads.ts";
import { listInstanceIdsOn } from "../../actors/instance/reads.ts";
import { reservoirView } from "../../actors/cn/view.ts";
import { AgentConfig, CapacityReport, StatusReport } from "../contract/agent.ts";
import { NOT_FOUND } from "../contract/fault.ts";
import { HeartbeatBody } from "../contract/job.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, ASKS, jsonBody, rights } from "./answer.ts";
import { nodeOf } from "../services/calling-node.ts";
import { takeStatus } from "../services/take-status.ts";
import type { App, Reads, RouteDeps } from "./deps.ts";

type Deps = Reads & Pick<RouteDeps, "mint" | "newId" | "send" | "settings" | "signals">;

const tags = ["Node agent"];
const Done = z.null().describe("Accepted");

export function agentRoutes(app: App, deps: Deps): void {
  const heartbeatRoute = createRoute({
    method: "post",
    path: "/v1/agent/heartbeat",
    tags,
    summary: "Send a heartbeat with the running jobs",
    description: "Renews the leases of the jobs in `running_jobs`. Other jobs fail when their leases expire.",
    ...rights(deps, "AgentHeartbeat"),
    ...ASKS,
    request: { body: { ...jsonBody(HeartbeatBody), required: false } },
    responses: answers(Done, "Stored"),
  });
  app.openapi(heartbeatRoute, async (c) => {
    const node = nodeOf(c);
    // The body is optional.
    const { running_jobs } = c.req.valid("json") ?? {};
    const refusals = await Promise.all([
      deps.signals.heartbeat(node),
      deps.signals.running(node, running_jobs ?? []),
    ]);
    const refusal = refusals.find((each) => each !== null);
    return refusal === undefined ? c.json(null, 200) : faultResponse(c, refusal);
  });

  const reportRoute = createRoute({
    method: "post",
    path: "/v1/agent/status",
    tags,
    summary: "Report the status of the node",
    description:
      "`vms` overrides the records of the node's instances, except during operations. `timestamp` (RFC 3339) is the " +
      "time of the report by the node's clock. If a report is not later than the previous report since the " +
      "approval, it updates only last_seen. An agent gives each report a later time than the previous report, even " +
      "if its clock was set back. `metrics` has the counters of the machines by instance. The server stores them " +
      "separately and does not show them with the status.",
    ...rights(deps, "AgentStatus"),
    ...ASKS,
    request: { body: jsonBody(StatusReport) },
    responses: answers(Done, "Stored"),
  });
  app.openapi(reportRoute, async (c) => {
    const refusal = await takeStatus(c, deps, c.req.valid("json").payload);
    return refusal === null ? c.json(null, 200) : faultResponse(c, refusal);
  });

  const capacityRoute = createRoute({
    method: "post",
    path: "/v1/agent/capacity",
    tags,
    summary: "Report the capacity of the node",
    ...rights(deps, "CnCapacityReport"),
    ...ASKS,
    request: { body: jsonBody(CapacityReport) },
    responses: answers(Done, "Stored"),
  });
  app.openapi(capacityRoute, async (c) => {
    const refusal = await deps.signals.capacity(nodeOf(c), c.req.valid("json"));
    return refusal === null ? c.json(null, 200) : faultResponse(c, refusal);
  });

  const configRoute = createRoute({
    method: "get",
    path: "/v1/agent/config",
    tags,
    summary: "Read the node's effective configuration",
    ...rights(deps, "AgentConfig"),
    request: { query: z.object({ include: z.enum(["instances"]).optional() }) },
    responses: answers(AgentConfig, "The effective values; the node limits `reservoir_percent` to 0.0 to 1.0"),
  });
  app.openapi(configRoute, async (c) => {
    const [row, defaults] = await Promise.all([findCnSettings(deps.kysely, nodeOf(c)), deps.settings.reservoir()]);
    if (row === undefined) return faultResponse(c, NOT_FOUND);
    const { effective_enabled, effective_percent } = reservoirView(row, defaults);
    return c.json({
      reservoir_enabled: effective_enabled,
      reservoir_percent: effective_percent,
      root_authorized_keys: await deps.settings.rootAuthorizedKeys(),
      state: row.state,
      admin_ip: row.admin_ip,
      fetch_allowed_private: await deps.settings.allowedPrivate(),
      ...(c.req.valid("query").include === "instances" && {
        instance_ids: await listInstanceIdsOn(deps.kysely, nodeOf(c)),
      }),
    }, 200);
  });
}
