// Defines the routes for drains of nodes (docs/nodes.md, "Drain").
import { createRoute } from "@hono/zod-openapi";
import { CnParam } from "../contract/cn.ts";
import { DrainBody, DrainStarted } from "../contract/drain.ts";
import { isFault } from "../contract/fault.ts";
import { DRAIN_MIGRATIONS_MAX } from "../contract/limits.ts";
import { DrainPreview } from "../contract/placement.ts";
import { faultResponse } from "../http/fault-status.ts";
import { previewOf } from "../services/drains.ts";
import { answers, ASKS, jsonBody, refuses, rights } from "./answer.ts";
import type { App, Operates, RouteDeps } from "./deps.ts";

type Deps = Operates & Pick<RouteDeps, "mint">;

const tags = ["Placement"];

export function cnDrainRoutes(app: App, deps: Deps): void {
  const drainRoute = createRoute({
    method: "post",
    path: "/v1/cns/{server_uuid}/drain",
    tags,
    summary: "Move the instances of a node to other nodes",
    description:
      "Cordons the node with the reason `drain`, and answers immediately. The operation cn-drain migrates the instances " +
      `in \`placeable\`, at most ${DRAIN_MIGRATIONS_MAX} at the same time. Each instance goes to its target in the ` +
      "preview. If the target can no longer take the instance, the best other node gets it. The operation ends when each instance " +
      "has moved or cannot move. It fails (state unwound) if an instance is still on the node. The output of its " +
      "last step counts the moved instances. It names the remaining instances, with the reason and a remedy. If an " +
      "operator abandons the drain, no further migration begins. Running migrations continue, and the node stays " +
      "cordoned. 409 while another drain of the node runs, and for a node that is not approved. With `dry_run`, the " +
      "request only returns the preview.",
    ...rights(deps, "CnDrain"),
    ...refuses(409),
    request: { params: CnParam, body: jsonBody(DrainBody) },
    responses: answers(DrainStarted, "The preview and the operation"),
  });
  app.openapi(drainRoute, async (c) => {
    const { server_uuid } = c.req.valid("param");
    const preview = await previewOf(deps, server_uuid);
    if (isFault(preview)) return faultResponse(c, preview);
    if (c.req.valid("json").dry_run) return c.json({ ...preview, operation_id: null }, 200);
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const operation_id = deps.mint.idFrom(idempotency.id, "operation");
    const outcome = await deps.send(c, { kind: "cn", id: server_uuid }, {
      type: "drain",
      operation_id,
      preview,
    }, idempotency);
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  const previewRoute = createRoute({
    method: "post",
    path: "/v1/cns/{server_uuid}/drain/preview",
    tags,
    summary: "Preview where the instances of a node would go",
    description: "Changes nothing. Instances are placed one after another, the largest first; each instance " +
      "reduces the free capacity for later instances.",
    ...rights(deps, "CnDrainPreview"),
    ...ASKS,
    request: { params: CnParam },
    responses: answers(
      DrainPreview,
      "The instances that other nodes can take, and the instances that no other node can take",
    ),
  });
  app.openapi(previewRoute, async (c) => {
    const preview = await previewOf(deps, c.req.valid("param").server_uuid);
    return isFault(preview) ? faultResponse(c, preview) : c.json(preview, 200);
  });
}
