// Defines the routes for API keys of the caller (docs/tenancy.md, "Credentials").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { listApiKeys } from "../../actors/api-key/reads.ts";
import { ApiKeyBody, ApiKeyCreated, ApiKeyView, Whoami } from "../contract/api-key.ts";
import { Uuid, UuidPrefix } from "../contract/common.ts";
import { callerOf } from "../auth/authorize.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, answersCreated, answersNothing, jsonBody, rights, wholeList } from "./answer.ts";
import type { App, RouteDeps, Writes } from "./deps.ts";
import { isFault } from "../contract/fault.ts";
import { answerNewKey, OWN_KEY } from "../services/new-key.ts";
import { whoami } from "../services/whoami.ts";

type Deps = Writes & Pick<RouteDeps, "mint" | "version">;

const tags = ["Credentials"];

export function apiKeyRoutes(app: App, deps: Deps): void {
  const whoamiRoute = createRoute({
    method: "get",
    path: "/v1/auth/whoami",
    tags,
    summary: "Show the user and the scope of this credential",
    ...rights(deps, "Whoami"),
    responses: answers(Whoami, "The caller"),
  });
  app.openapi(whoamiRoute, async (c) => c.json(await whoami(deps, callerOf(c)), 200));

  const createKeyRoute = createRoute({
    method: "post",
    path: "/v1/auth/api-keys",
    tags,
    summary: "Create an API key for the caller",
    description:
      "Only this response contains the secret. For 24 hours, a request with the same Idempotency-Key gets this " +
      "response again. 400 if `expires_at` is not in the future. A key that is bound to a tenant creates only keys of that " +
      "tenant. If the calling key has an expiry, the new key has the same expiry by default, and a later `expires_at` " +
      "gets 400. A session may create a key without an expiry.",
    ...rights(deps, "CreateApiKey"),
    request: { body: jsonBody(ApiKeyBody) },
    responses: answersCreated(ApiKeyCreated, "The key, with its secret"),
  });
  app.openapi(createKeyRoute, async (c) => {
    const { scope, ...wanted } = c.req.valid("json");
    const tenant_id = callerOf(c).key_tenant_id;
    return await answerNewKey(c, deps, { ...wanted, tenant_id, scope: scope ?? "full" });
  });

  const listRoute = createRoute({
    method: "get",
    path: "/v1/auth/api-keys",
    tags,
    summary: "List the caller's API keys, oldest first",
    ...rights(deps, "ApiKeyList"),
    request: {
      query: z.object({
        of_nodes: z.enum(["true", "false"]).optional()
          .describe(
            "`true` lists only the keys of nodes. Such a key belongs to the operator who approved the node, or to " +
              "the root operator. `false` lists only the other keys",
          ),
        id_prefix: UuidPrefix,
      }),
    },
    responses: answers(z.array(ApiKeyView), "The keys, without secrets"),
  });
  app.openapi(listRoute, async (c) => {
    const { user_id, key_tenant_id } = callerOf(c);
    // A key that is bound to a tenant sees only those keys of its owner that are bound to the same tenant.
    const owner = key_tenant_id === null ? { user_id } : { user_id, tenant_id: key_tenant_id };
    const { of_nodes, id_prefix } = c.req.valid("query");
    const filter = { ...owner, ...(of_nodes !== undefined && { of_nodes: of_nodes === "true" }), id_prefix };
    const keys = await wholeList(
      "leave out the keys of nodes with of_nodes=false, or delete unused keys",
      (rows) => listApiKeys(deps.kysely, filter, rows),
    );
    return isFault(keys) ? faultResponse(c, keys) : c.json(keys, 200);
  });

  const deleteRoute = createRoute({
    method: "delete",
    path: "/v1/auth/api-keys/{id}",
    tags,
    summary: "Delete an API key of the caller and reject it from now on",
    description:
      "409 for the key of an approved node or of a node in setup: disable the node first. When the key of a disabled " +
      "node is deleted, the node's record loses its reference to the key. The node then needs a new approval.",
    ...rights(deps, "DeleteApiKey"),
    request: { params: z.object({ id: Uuid }) },
    responses: answersNothing("Deleted"),
  });
  app.openapi(deleteRoute, async (c) => {
    const { user_id, key_id, key_tenant_id: through_tenant_id } = callerOf(c);
    const { id } = c.req.valid("param");
    if (id === key_id) return faultResponse(c, OWN_KEY);
    const outcome = await deps.sendOnce(c, { kind: "api-key", id }, { type: "delete", user_id, through_tenant_id });
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });
}
