// Defines the route for upgrades of the nodes with a label (docs/nodes.md, "Upgrade by label").
import { createRoute } from "@hono/zod-openapi";
import { CN_UPGRADE_LABEL, type LabelUpgradeParams } from "../../actors/cn/messages.ts";
import { findOperationStatus } from "../../actors/saga/reads.ts";
import { listStaged } from "../../actors/staging/reads.ts";
import { badRequest, isFault } from "../contract/fault.ts";
import { LabelUpgradeBody, LabelUpgradeStarted } from "../contract/label-upgrade.ts";
import { LABEL_DRAIN_NODES_MAX } from "../contract/limits.ts";
import { faultResponse } from "../http/fault-status.ts";
import { labelText } from "../services/label-drains.ts";
import { labelUpgradePlan, unfitFault } from "../services/label-upgrades.ts";
import { startSaga } from "../services/saga-start.ts";
import { answers, jsonBody, refuses, rights } from "./answer.ts";
import type { App, Operates, RouteDeps } from "./deps.ts";

type Deps = Operates & Pick<RouteDeps, "byKey" | "mint">;

export function cnUpgradeLabelRoutes(app: App, deps: Deps): void {
  const upgradeRoute = createRoute({
    method: "post",
    path: "/v1/cn-upgrades",
    tags: ["Placement"],
    summary: "Upgrade the nodes with a label to a platform image, in the order of their hostnames",
    description:
      "Starts the operation cn-upgrade-label and returns its plan immediately. The operation upgrades the nodes in " +
      "`nodes`, at most `max_unavailable` at the same time. Each upgrade is a separate operation cn-upgrade. It " +
      "drains the node, assigns the image to the boot records of the node, and restarts the machine. When the node " +
      "reports a boot of the image, the node is uncordoned, unless an operator had cordoned it before. If an " +
      "upgrade fails, the node stays cordoned, and its boot records get their previous images back. After the first " +
      "failure, no further upgrade begins. The operation ends when the running upgrades have ended. It fails (state " +
      "unwound) if a node was not upgraded. The output of its last step has the lists `upgraded`, `not_upgraded` " +
      "and `not_begun`. If an operator abandons the operation, running upgrades continue. 400 if no approved node " +
      "has the label, " +
      `if more than ${LABEL_DRAIN_NODES_MAX} nodes have it, or if no booter has staged the image. 409 if a node ` +
      "cannot be upgraded. With `dry_run`, the request only returns the plan, which lists such nodes in `unfit`.",
    ...rights(deps, "CnUpgrade"),
    ...refuses(409),
    request: { body: jsonBody(LabelUpgradeBody) },
    responses: answers(LabelUpgradeStarted, "The plan and the operation"),
  });
  app.openapi(upgradeRoute, async (c) => {
    const { label, platform_image, max_unavailable, reboot, dry_run } = c.req.valid("json");
    const plan = await labelUpgradePlan(deps, label, platform_image);
    if (isFault(plan)) return faultResponse(c, plan);
    if (dry_run) return c.json(plan, 200);
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const id = deps.mint.idFrom(idempotency.id, "operation");
    // A repeated request skips the checks if its operation has begun. If its first request was refused, no operation
    // has begun, and the server checks again.
    const is_begun = idempotency.repeated && await findOperationStatus(deps.byKey, id) !== undefined;
    if (!is_begun) {
      const staged = await listStaged(deps.kysely);
      if (!staged.some(({ stamp }) => stamp === platform_image)) {
        return faultResponse(c, badRequest(`platform_image: ${platform_image} is not staged on any booter`));
      }
      if (plan.nodes.length + plan.current.length + plan.unfit.length === 0) {
        return faultResponse(c, badRequest(`label: no approved node has the label ${labelText(label)}`));
      }
      const unfit = unfitFault(plan);
      if (unfit !== null) return faultResponse(c, unfit);
      if (plan.nodes.length === 0) return c.json(plan, 200);
    }
    const nodes = plan.nodes.map((node) => ({
      ...node,
      operation_id: deps.mint.idFrom(idempotency.id, node.server_uuid),
    }));
    const params: LabelUpgradeParams = {
      label: labelText(label),
      platform_image,
      reboot,
      max_unavailable,
      nodes: nodes.map(({ server_uuid, hostname, operation_id }) => ({ server_uuid, hostname, operation_id })),
    };
    const outcome = await startSaga(c, deps, {
      id,
      saga: CN_UPGRADE_LABEL.saga,
      params,
      references: nodes.map(({ server_uuid }) => ({ scope: "cn", id: server_uuid })),
      reply: { ...plan, nodes, operation_id: id } satisfies LabelUpgradeStarted,
    }, idempotency);
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });
}
