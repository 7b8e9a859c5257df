// Defines the route for drains of the nodes with a label (docs/nodes.md, "Drain by label").
import { createRoute } from "@hono/zod-openapi";
import { CN_DRAIN_LABEL, type LabelDrainParams } from "../../actors/cn/messages.ts";
import { findOperationStatus } from "../../actors/saga/reads.ts";
import { badRequest, isFault } from "../contract/fault.ts";
import { LabelDrainBody, LabelDrainStarted } from "../contract/label-drain.ts";
import { LABEL_DRAIN_NODES_MAX } from "../contract/limits.ts";
import { faultResponse } from "../http/fault-status.ts";
import { labelDrainPlan, labelText } from "../services/label-drains.ts";
import { startSaga } from "../services/saga-start.ts";
import { answers, jsonBody, refuses, rights } from "./answer.ts";
import type { App, Operates, RouteDeps } from "./deps.ts";

type Deps = Operates & Pick<RouteDeps, "byKey" | "mint">;

export function cnDrainLabelRoutes(app: App, deps: Deps): void {
  const drainRoute = createRoute({
    method: "post",
    path: "/v1/cn-drains",
    tags: ["Placement"],
    summary: "Drain the nodes with a label, in the order of their hostnames",
    description:
      "Starts the operation cn-drain-label and returns its plan immediately. The operation drains the approved " +
      "nodes with the label, at most `max_unavailable` at the same time. A drained node stays cordoned. Each drain " +
      "is a separate operation cn-drain, which is planned again when it begins. The plans use no node of this " +
      "request as a target. After the first node that cannot be emptied, no further drain begins. The operation " +
      "ends when the running drains have ended. It fails (state unwound) if a node was not emptied. The output of " +
      "its last step has the lists `drained`, `not_emptied` and `not_begun`. If an operator abandons the operation, " +
      "running drains continue. Labels that change later have no effect on the operation. 400 " +
      `if no approved node has the label, or if more than ${LABEL_DRAIN_NODES_MAX} nodes have it. ` +
      "With `dry_run`, the request only returns the plan, which may be empty.",
    ...rights(deps, "CnDrain"),
    ...refuses(409),
    request: { body: jsonBody(LabelDrainBody) },
    responses: answers(LabelDrainStarted, "The plan and the operation"),
  });
  app.openapi(drainRoute, async (c) => {
    const { label, max_unavailable, dry_run } = c.req.valid("json");
    const plan = await labelDrainPlan(deps, label);
    if (isFault(plan)) return faultResponse(c, plan);
    if (dry_run) return c.json(plan, 200);
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const id = deps.mint.idFrom(idempotency.id, "operation");
    // A repeated request skips the check if its operation has begun. If its first request was refused, no operation has
    // begun, and the server checks again.
    const is_begun = idempotency.repeated && await findOperationStatus(deps.byKey, id) !== undefined;
    if (plan.nodes.length === 0 && !is_begun) {
      return faultResponse(c, badRequest(`label: no approved node has the label ${labelText(label)}`));
    }
    const nodes = plan.nodes.map((node) => ({
      ...node,
      operation_id: deps.mint.idFrom(idempotency.id, node.server_uuid),
    }));
    const params: LabelDrainParams = {
      label: labelText(label),
      max_unavailable,
      nodes: nodes.map(({ server_uuid, hostname, operation_id }) => ({ server_uuid, hostname, operation_id })),
    };
    const outcome = await startSaga(c, deps, {
      id,
      saga: CN_DRAIN_LABEL.saga,
      params,
      references: nodes.map(({ server_uuid }) => ({ scope: "cn", id: server_uuid })),
      reply: { ...plan, nodes, operation_id: id } satisfies LabelDrainStarted,
    }, idempotency);
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });
}
