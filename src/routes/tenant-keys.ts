// Defines the routes with which members of a tenant and root operators manage API keys that act in the tenant
// (docs/tenancy.md, "Credentials").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { listApiKeys } from "../../actors/api-key/reads.ts";
import { callerOf } from "../auth/authorize.ts";
import { atTenant } from "../auth/resource-scope.ts";
import { ApiKeyCreated, ApiKeyView } from "../contract/api-key.ts";
import { Uuid, UuidPrefix } from "../contract/common.ts";
import { TenantKeyBody } from "../contract/identity.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, answersCreated, answersNothing, jsonBody, rights, wholeList } from "./answer.ts";
import type { App, RouteDeps, Writes } from "./deps.ts";
import { isFault } from "../contract/fault.ts";
import { answerNewKey, OWN_KEY } from "../services/new-key.ts";

type Deps = Writes & Pick<RouteDeps, "mint">;

const tags = ["Credentials"];
const path = "/v1/tenants/{tenant_id}/api-keys";
const params = z.object({ tenant_id: Uuid });

export function tenantKeyRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path,
    tags,
    summary: "List the API keys that are bound to a tenant, oldest first",
    ...rights(deps, "TenantKeyList", atTenant),
    request: { params, query: z.object({ id_prefix: UuidPrefix }) },
    responses: answers(z.array(ApiKeyView), "The keys, without secrets"),
  });
  app.openapi(listRoute, async (c) => {
    const { tenant_id } = c.req.valid("param");
    const keys = await wholeList(
      "delete unused keys",
      (rows) => listApiKeys(deps.kysely, { tenant_id, id_prefix: c.req.valid("query").id_prefix }, rows),
    );
    return isFault(keys) ? faultResponse(c, keys) : c.json(keys, 200);
  });

  const createKeyRoute = createRoute({
    method: "post",
    path,
    tags,
    summary: "Create an API key that acts in a tenant",
    description:
      "Only this response contains the secret. For 24 hours, a request with the same Idempotency-Key gets this " +
      "response again. If the calling key has an expiry, the new key must not expire later: 400 for a later `expires_at`. " +
      "The default is the same expiry.",
    ...rights(deps, "TenantKeyCreate", atTenant),
    request: { params, body: jsonBody(TenantKeyBody) },
    responses: answersCreated(ApiKeyCreated, "The key, with its secret"),
  });
  app.openapi(createKeyRoute, async (c) => {
    const { scope, ...wanted } = c.req.valid("json");
    const { tenant_id } = c.req.valid("param");
    return await answerNewKey(c, deps, { ...wanted, tenant_id, scope: scope ?? "full" });
  });

  const deleteRoute = createRoute({
    method: "delete",
    path: `${path}/{id}`,
    tags,
    summary: "Delete an API key of a tenant and reject it from now on",
    ...rights(deps, "TenantKeyDelete", atTenant),
    request: { params: params.extend({ id: Uuid }) },
    responses: answersNothing("Deleted"),
  });
  app.openapi(deleteRoute, async (c) => {
    const { tenant_id, id } = c.req.valid("param");
    if (id === callerOf(c).key_id) return faultResponse(c, OWN_KEY);
    const outcome = await deps.sendOnce(c, { kind: "api-key", id }, { type: "delete_of_tenant", tenant_id });
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });
}
