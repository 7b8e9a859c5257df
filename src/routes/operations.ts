// Defines the routes for running, finished and stuck operations.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findOperation, isListed, listOperations } from "../../actors/saga/reads.ts";
import { callerOf } from "../auth/authorize.ts";
import { observes } from "../auth/authorization.ts";
import { atOperation } from "../auth/resource-scope.ts";
import { Uuid, wholeNumber } from "../contract/common.ts";
import { OPERATION_STATES, RESOURCE_SCOPES } from "../contract/enums.ts";
import { badRequest, fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import { OPERATION_PAGE_ROWS_DEFAULT, OPERATION_PAGE_ROWS_MAX, OPERATION_WAIT_S_MAX } from "../contract/limits.ts";
import { OperationSummary, OperationView } from "../contract/operation.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, rights } from "./answer.ts";
import type { App, RouteDeps, Writes } from "./deps.ts";
import { hold } from "./long-poll.ts";

type Deps = Writes & Pick<RouteDeps, "endings" | "holdShares" | "sagas">;

const tags = ["Operations"];
const LOST = badRequest(
  "after_id: the operation was not found, perhaps because it was deleted; read the list from the start",
);
const REST: ReadonlySet<string> = new Set(["succeeded", "failed", "unwound", "stuck"]);

export function operationRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/operations",
    tags,
    summary: "List operations, newest first",
    description: "Members of a tenant see the operations on the tenant's objects; users with system-read see all.",
    ...rights(deps, "OperationsList"),
    request: {
      query: z.object({
        limit: wholeNumber(1, OPERATION_PAGE_ROWS_MAX).optional().describe("Default 50"),
        after_id: Uuid.optional().describe("Continue the list after this operation; 400 if it was deleted"),
        resource_scope: z.enum(RESOURCE_SCOPES).optional(),
        resource_id: z.string().max(128).optional(),
        state: z.enum(OPERATION_STATES).optional(),
        kind: z.string().max(64).optional().describe("The saga's name, for example node-join"),
      }),
    },
    responses: answers(z.array(OperationSummary), "The operations"),
  });
  app.openapi(listRoute, async (c) => {
    const { limit, after_id, resource_scope, resource_id, state, kind } = c.req.valid("query");
    if ((resource_scope === undefined) !== (resource_id === undefined)) return faultResponse(c, HALF_FILTER);
    const reference = resource_scope === undefined || resource_id === undefined
      ? undefined
      : { scope: resource_scope, id: resource_id };
    const rows = limit ?? OPERATION_PAGE_ROWS_DEFAULT;
    const caller = callerOf(c);
    const own = observes(caller) ? undefined : caller.tenant_id ?? undefined;
    const found = await listOperations(deps.kysely, { rows, after_id, reference, tenant_id: own, state, kind });
    // Ended operations are deleted after a time. If `after_id` was deleted, an empty list could hide older, stuck
    // operations.
    const is_lost = found.length === 0 && after_id !== undefined && !(await isListed(deps.kysely, after_id, own));
    return is_lost ? faultResponse(c, LOST) : c.json(found, 200);
  });

  const showRoute = createRoute({
    method: "get",
    path: "/v1/operations/{id}",
    tags,
    summary: "Show one operation with its steps",
    description: "With `wait`, the request waits for the end of the operation, at most that many seconds. " +
      "401 if the credential ends during the wait.",
    ...rights(deps, "OperationsGet", atOperation),
    request: {
      params: z.object({ id: Uuid }),
      query: z.object({ wait: wholeNumber(0, OPERATION_WAIT_S_MAX).optional() }),
    },
    responses: answers(OperationView, "The operation"),
  });
  app.openapi(showRoute, async (c) => {
    const { id } = c.req.valid("param");
    const { wait } = c.req.valid("query");
    const found = await findOperation(deps.byKey, id, deps.sagas);
    if (found === undefined) return faultResponse(c, NOT_FOUND);
    if (wait === undefined || REST.has(found.state)) return c.json(found, 200);
    const ended = await hold(c, deps, { polls: deps.endings, key: id, hold_ms: wait * 1_000 });
    if (isFault(ended)) return faultResponse(c, ended);
    return c.json((await findOperation(deps.kysely, id, deps.sagas)) ?? found, 200);
  });

  const abandonRoute = createRoute({
    method: "post",
    path: "/v1/operations/{id}/abandon",
    tags,
    summary: "Roll back an operation",
    description: "Cancels the job of the current step, and undoes the earlier steps. For a stuck operation, the " +
      "server tries the failed undo again. An abandoned drain or evacuation begins no more moves, and " +
      "moves no instance back.",
    ...rights(deps, "OperationsAbandon"),
    request: { params: z.object({ id: Uuid }) },
    responses: answers(OperationView, "The operation"),
  });
  app.openapi(abandonRoute, async (c) => {
    const { id } = c.req.valid("param");
    const outcome = await deps.sendOnce(c, { kind: "saga", id }, { type: "abandon" });
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    const found = await findOperation(deps.byKey, id, deps.sagas);
    return found === undefined ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });
}

const HALF_FILTER = fault("bad_request", "set both resource_scope and resource_id, or neither", {
  error_code: "InvalidRequest",
});
