// What the agents of approved nodes call. Document 4, 1.6 and 1.7.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findCnSettings } from "../../actors/cn/reads.ts";
import { reservoirView } from "../../actors/cn/view.ts";
import { AgentConfig, CapacityReport, StatusReport } from "../contract/agent.ts";
import { NOT_FOUND } from "../contract/fault.ts";
import { HeartbeatBody } from "../contract/job.ts";
import { faultResponse } from "../http/fault-status.ts";
import { redactSysinfo } from "../lib/text/redact-sysinfo.ts";
import { answers, ASKS, jsonBody, rights } from "./answer.ts";
import { nodeOf } from "../services/calling-node.ts";
import type { App, Reads, RouteDeps } from "./deps.ts";
import { madeAt, reconcile } from "../services/reconcile.ts";

type Deps = Reads & Pick<RouteDeps, "mint" | "newId" | "send" | "settings" | "signals">;

const tags = ["Node agent"];
const Done = z.null().describe("Taken");

export function agentRoutes(app: App, deps: Deps): void {
  const heartbeatRoute = createRoute({
    method: "post",
    path: "/v1/agent/heartbeat",
    tags,
    summary: "Say that the node is alive, and which jobs it runs",
    description: "The leases of the named jobs begin anew. A job that is not named fails when its lease is over.",
    ...rights(deps, "AgentHeartbeat"),
    ...ASKS,
    request: { body: { ...jsonBody(HeartbeatBody), required: false } },
    responses: answers(Done, "Noted"),
  });
  app.openapi(heartbeatRoute, async (c) => {
    const node = nodeOf(c);
    // Without a body there is nothing to read.
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
    summary: "Replace the node's last status",
    description:
      "What `vms` says of the node's instances wins over their records, except while an operation is at work. " +
      "`timestamp` (RFC 3339) says when the node made the report, by its own clock. A report with one that is not later " +
      "than that of the last report taken since the node was approved is answered and has no effect, except that the " +
      "node was seen: an agent gives each report a later time than the one before, also when its clock was set back.",
    ...rights(deps, "AgentStatus"),
    ...ASKS,
    request: { body: jsonBody(StatusReport) },
    responses: answers(Done, "Stored"),
  });
  app.openapi(reportRoute, async (c) => {
    const { payload } = c.req.valid("json");
    const told = { id: deps.newId(), made_at: madeAt(payload) };
    const refusal = await deps.signals.status(nodeOf(c), redactSysinfo(payload), told);
    if (refusal !== null) return faultResponse(c, refusal);
    await reconcile(c, deps, { ...told, payload });
    return c.json(null, 200);
  });

  const capacityRoute = createRoute({
    method: "post",
    path: "/v1/agent/capacity",
    tags,
    summary: "Replace the node's capacity",
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
    responses: answers(AgentConfig, "Effective values; the node clamps the percent to 0.0 to 1.0"),
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
    }, 200);
  });
}
