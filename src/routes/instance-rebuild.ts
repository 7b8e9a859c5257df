// Rebuilds an instance from an image (docs/instances.md, "Rebuild").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { scopeOf } from "../auth/authorize.ts";
import { atRow } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { isFault } from "../contract/fault.ts";
import { Instance, RebuildBody } from "../contract/instance.ts";
import { faultResponse } from "../http/fault-status.ts";
import { type Asked, rebuildOf } from "../services/rebuild.ts";
import { answers, jsonBody, rights } from "./answer.ts";
import type { App, Operates, RouteDeps } from "./deps.ts";
import { nowOrThen } from "./instances.ts";
import { ACCEPTED, operate, PREFER } from "./operation-answer.ts";

type Deps = Operates & Pick<RouteDeps, "mint">;

export function instanceRebuildRoutes(app: App, deps: Deps): void {
  const route = createRoute({
    method: "post",
    path: "/v1/instances/{instance_id}/rebuild",
    tags: ["Instances"],
    summary: "Rebuild an instance from an image",
    description:
      "Replaces the boot disk with a new disk from the image; the data on the old boot disk is lost. Id, NICs, " +
      "addresses, floating IPs, data disks, snapshots, user data and SSH keys stay. A running instance is stopped, " +
      "rebuilt and started; a stopped instance stays stopped; a failed instance is started. Waits for the node and " +
      "returns the instance. 409 DeletionProtected while the instance is protected against deletion, and 409 for an " +
      "image that is larger than the boot disk or made for another brand. 502 OperationFailed has the reason of a " +
      "failure: the instance is then failed, and can be rebuilt again. The instance still has its old boot disk if " +
      "the node failed before removing the disk.",
    ...rights(deps, "InstanceRebuild", atRow("instance", "instance_id")),
    request: { params: z.object({ instance_id: Uuid }), headers: PREFER, body: jsonBody(RebuildBody) },
    responses: { ...answers(Instance, "The instance"), ...ACCEPTED },
  });
  app.openapi(route, async (c) => {
    const id = c.req.valid("param").instance_id;
    const body = c.req.valid("json");
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const operation_id = deps.mint.idFrom(idempotency.id, "operation");
    const place = scopeOf(c) as Asked["place"];
    const asked = { instance_id: id, body, place, principal: c.get("principal"), operation_id };
    const ended = await operate(c, deps, {
      to: { kind: "instance", id },
      message: () => rebuildOf(deps, asked),
      idempotency,
      operation_id,
      failure: { what: "rebuild", error_code: "OperationFailed" },
    });
    switch (ended.ended) {
      case "accepted":
        return ended.answer;
      case "refused":
        return faultResponse(c, ended.fault);
      case "succeeded":
        return c.json(await nowOrThen(deps, { id, repeated: idempotency.repeated, output: ended.output }), 200);
    }
  });
}
