// Defines the route for evacuations of dead nodes (docs/nodes.md, "Evacuate a dead node").
import { createRoute } from "@hono/zod-openapi";
import { CnParam } from "../contract/cn.ts";
import { EvacuateBody, EvacuateStarted } from "../contract/drain.ts";
import { badRequest, isFault } from "../contract/fault.ts";
import { CN_LIVE_S } from "../contract/limits.ts";
import { faultResponse } from "../http/fault-status.ts";
import { evacuationPlan } from "../services/evacuations.ts";
import { answers, jsonBody, refuses, rights } from "./answer.ts";
import type { App, Operates, RouteDeps } from "./deps.ts";

type Deps = Operates & Pick<RouteDeps, "mint" | "nodesToPlace">;

const NOT_FENCED = badRequest(
  "fenced must be true: power the node off and check that it is off, so that it cannot run the instances",
);

export function cnEvacuateRoutes(app: App, deps: Deps): void {
  const evacuateRoute = createRoute({
    method: "post",
    path: "/v1/cns/{server_uuid}/evacuate",
    tags: ["Placement"],
    summary: "Create the instances of a dead node on other nodes",
    description:
      "Use this for a node that is powered off and will not return soon. Cordons the node with the reason `drain`, " +
      "and answers immediately with the plan, which shows what happens to each instance. All disks of an instance " +
      "are on its node. Without `lose_local_disks`, each instance therefore remains on the dead node. With " +
      "`lose_local_disks`, the operation cn-evacuate creates each instance in `placeable` on another node. The " +
      "instance keeps its id, name, NICs, addresses and user data. Its boot disk is created from its image, its " +
      "data disks are empty and attached, and it has no snapshots. A stopped instance is stopped again after it was " +
      "created; a failed instance is started. If the create fails, the record names the dead node again and has its " +
      "earlier state. When the dead node runs again, its agent does not start the evacuated instances, and deletes " +
      "its copies of them. The output of the operation's last step counts the evacuated instances and names the remaining " +
      `instances. 400 without \`fenced\`. 409 if the node was seen in the last ${CN_LIVE_S} s, is not approved, or ` +
      "is being drained or evacuated. With `dry_run`, the request only returns the plan and does not need `fenced`.",
    ...rights(deps, "CnEvacuate"),
    ...refuses(409),
    request: { params: CnParam, body: jsonBody(EvacuateBody) },
    responses: answers(EvacuateStarted, "The plan and the operation"),
  });
  app.openapi(evacuateRoute, async (c) => {
    const { server_uuid } = c.req.valid("param");
    const { fenced, lose_local_disks, dry_run } = c.req.valid("json");
    const preview = await evacuationPlan(deps, server_uuid, lose_local_disks);
    if (isFault(preview)) return faultResponse(c, preview);
    if (dry_run) return c.json({ ...preview, operation_id: null }, 200);
    if (!fenced) return faultResponse(c, NOT_FENCED);
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const operation_id = deps.mint.idFrom(idempotency.id, "operation");
    const outcome = await deps.send(c, { kind: "cn", id: server_uuid }, {
      type: "evacuate",
      operation_id,
      preview,
    }, idempotency);
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });
}
