// API keys of the caller. Document 4, 2.4.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { listApiKeys } from "../../actors/api-key/reads.ts";
import { ApiKeyBody, ApiKeyCreated, ApiKeyView, Whoami } from "../contract/api-key.ts";
import { Uuid } from "../contract/common.ts";
import { fault } from "../contract/fault.ts";
import { SCAN_ROWS_MAX } from "../contract/limits.ts";
import type { KnownPrincipal } from "../auth/principal.ts";
import { faultResponse } from "../http/fault-status.ts";
import { scanLimitExceeded } from "../http/page.ts";
import { toRfc3339 } from "../pure/instant.ts";
import { answers, answersCreated, answersNothing, jsonBody, rights } from "./answer.ts";
import { type App, type Ctx, isFault, type RouteDeps } from "./deps.ts";

const tags = ["Credentials"];

export function apiKeyRoutes(app: App, deps: RouteDeps): void {
  const whoamiRoute = createRoute({
    method: "get",
    path: "/v1/auth/whoami",
    tags,
    summary: "Tell whose credential this is",
    ...rights(deps, "Whoami"),
    responses: answers(Whoami, "The caller"),
  });
  app.openapi(whoamiRoute, (c) => {
    const { user_id, username, is_root, key_id, scope, bound_cn, expires_at } = caller(c);
    const until = expires_at === null ? null : toRfc3339(expires_at);
    return c.json({ user_id, username, is_root, key_id, scope, bound_to_cn: bound_cn, expires_at: until }, 200);
  });

  const createKeyRoute = createRoute({
    method: "post",
    path: "/v1/auth/api-keys",
    tags,
    summary: "Make an API key for oneself",
    description:
      "The secret is in this answer and nowhere else. The same Idempotency-Key answers it again for 24 hours.",
    ...rights(deps, "CreateApiKey"),
    request: { body: jsonBody(ApiKeyBody) },
    responses: answersCreated(ApiKeyCreated, "The key, with its secret"),
  });
  app.openapi(createKeyRoute, async (c) => {
    const turn = await deps.turn(c);
    if (isFault(turn)) return faultResponse(c, turn);
    const { description, scope, expires_at } = c.req.valid("json");
    const { text, lookup, secret_sha256 } = deps.mint.apiKey(turn.id);
    // The key's id is the message's, so that a repeated request meets the same actor.
    const outcome = await deps.send(c, { kind: "api-key", id: turn.id }, {
      type: "create",
      id: turn.id,
      lookup,
      secret_sha256,
      user_id: caller(c).user_id,
      description,
      scope: scope ?? "full",
      bound_to_cn: null,
      expires_at: expires_at === null || expires_at === undefined ? null : new Date(expires_at),
    }, turn);
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    return c.json({ ...outcome.reply as z.output<typeof ApiKeyView>, secret: text }, 201);
  });

  const listRoute = createRoute({
    method: "get",
    path: "/v1/auth/api-keys",
    tags,
    summary: "List one's own API keys, oldest first",
    ...rights(deps, "ApiKeyList"),
    responses: answers(z.array(ApiKeyView), "The keys, without secrets"),
  });
  app.openapi(listRoute, async (c) => {
    const keys = await listApiKeys(deps.kysely, caller(c).user_id, SCAN_ROWS_MAX + 1);
    return keys.length > SCAN_ROWS_MAX ? faultResponse(c, scanLimitExceeded("deleting keys")) : c.json(keys, 200);
  });

  const deleteRoute = createRoute({
    method: "delete",
    path: "/v1/auth/api-keys/{id}",
    tags,
    summary: "Delete one of one's own API keys: it is refused from now on",
    ...rights(deps, "DeleteApiKey"),
    request: { params: z.object({ id: Uuid }) },
    responses: answersNothing("Deleted"),
  });
  app.openapi(deleteRoute, async (c) => {
    const { user_id, key_id } = caller(c);
    const { id } = c.req.valid("param");
    if (id === key_id) return faultResponse(c, OWN_KEY);
    const outcome = await deps.act(c, { kind: "api-key", id }, { type: "delete", user_id });
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });
}

const OWN_KEY = fault("conflict", "the key that makes this request cannot delete itself; use another key", {
  error_code: "Conflict",
});

/** The gate let only known callers pass. */
function caller(c: Ctx): KnownPrincipal {
  const principal = c.get("principal");
  if (principal.kind === "anonymous") throw new Error("a route for known callers met an anonymous one");
  return principal;
}
