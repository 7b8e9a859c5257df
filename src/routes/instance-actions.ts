// Defines the routes that start, stop, restart, reset, retry and delete an instance (docs/instances.md, "States").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { type Action } from "../auth/policy.ts";
import { operates } from "../auth/authorization.ts";
import { atRow } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import { Instance } from "../contract/instance.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, answersNothing, refuses, rights } from "./answer.ts";
import type { App, Operates, RouteDeps } from "./deps.ts";
import { nowOrThen } from "./instances.ts";
import { ACCEPTED, operate, PREFER } from "./operation-answer.ts";

type Deps = Operates & Pick<RouteDeps, "audit" | "mint">;

const tags = ["Instances"];
const path = "/v1/instances/{instance_id}";
const params = z.object({ instance_id: Uuid });
const atInstance = atRow("instance", "instance_id");

const OPERATORS_ONLY = fault("forbidden", "force delete is operator-only", { error_code: "Forbidden" });

type Doing = {
  readonly verb: "start" | "stop" | "restart" | "reset" | "retry";
  readonly action: Action;
  readonly summary: string;
};
const DOINGS: readonly Doing[] = [
  { verb: "start", action: "InstanceStart", summary: "Start a stopped instance" },
  { verb: "stop", action: "InstanceStop", summary: "Stop a running instance" },
  { verb: "restart", action: "InstanceRestart", summary: "Restart a running instance" },
  { verb: "reset", action: "InstanceReset", summary: "Press the reset button of a running instance" },
  { verb: "retry", action: "InstanceRetry", summary: "Start a failed instance again" },
];

export function instanceActionRoutes(app: App, deps: Deps): void {
  for (const doing of DOINGS) actionRoute(app, deps, doing);

  const deleteRoute = createRoute({
    method: "delete",
    path,
    tags,
    summary: "Delete a stopped or failed instance",
    description:
      "First the node deletes the machine. Then the record is deleted with its addresses and disks. Floating IPs are " +
      "detached. Operators can use `force` in any state; the request then does not wait for the node.",
    ...rights(deps, "InstanceDelete", atInstance),
    ...refuses(403),
    request: { params, query: z.object({ force: z.enum(["true", "false"]).optional() }), headers: PREFER },
    responses: { ...answersNothing("Deleted"), ...ACCEPTED },
  });
  app.openapi(deleteRoute, async (c) => {
    const id = c.req.valid("param").instance_id;
    const force = c.req.valid("query").force === "true";
    const principal = c.get("principal");
    if (force && !operates(principal)) {
      await deps.audit.denied(c, "instance_delete", `Instance::"${id}"`);
      return faultResponse(c, OPERATORS_ONLY);
    }
    // An operator who is neither root nor a member of the tenant may only force the deletion.
    const isMember = principal.kind === "user" &&
      (principal.is_root || principal.tenant_id === c.get("resourceScope")?.tenant_id);
    if (!force && !isMember) return faultResponse(c, NOT_FOUND);
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const operation_id = deps.mint.idFrom(idempotency.id, "operation");
    const limit_ms = await deps.settings.instanceWaitS() * 1_000;
    const ended = await operate(c, deps, {
      to: { kind: "instance", id },
      message: () =>
        Promise.resolve(
          force
            ? { type: "force_delete", operation_id, job_id: deps.mint.idFrom(idempotency.id, "delete-job") } as const
            : { type: "delete", operation_id, limit_ms } as const,
        ),
      idempotency,
      operation_id,
      failure: { what: "delete", error_code: "OperationFailed" },
    });
    if (ended.ended === "accepted") return ended.answer;
    return ended.ended === "refused" ? faultResponse(c, ended.fault) : c.body(null, 204);
  });
}

function actionRoute(app: App, deps: Deps, { verb, action, summary }: Doing): void {
  const route = createRoute({
    method: "post",
    path: `${path}/${verb}`,
    tags,
    summary,
    description: "Waits for the node and returns the instance. 502 OperationFailed has the reason of a failure.",
    ...rights(deps, action, atInstance),
    request: { params, headers: PREFER },
    responses: { ...answers(Instance, "The instance"), ...ACCEPTED },
  });
  app.openapi(route, async (c) => {
    const id = c.req.valid("param").instance_id;
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const operation_id = deps.mint.idFrom(idempotency.id, "operation");
    const limit_ms = await deps.settings.instanceWaitS() * 1_000;
    const ended = await operate(c, deps, {
      to: { kind: "instance", id },
      message: () => Promise.resolve({ type: verb, operation_id, limit_ms } as const),
      idempotency,
      operation_id,
      failure: { what: verb, error_code: "OperationFailed" },
    });
    if (ended.ended === "accepted") return ended.answer;
    if (ended.ended === "refused") return faultResponse(c, ended.fault);
    return c.json(await nowOrThen(deps, { id, repeated: idempotency.repeated, output: ended.output }), 200);
  });
}
