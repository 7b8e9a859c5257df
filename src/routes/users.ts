// Defines the routes with which operators of the site manage users (docs/tenancy.md).
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findTenant } from "../../actors/tenant/reads.ts";
import type { Giver } from "../../actors/user/messages.ts";
import { findUser, listUsers } from "../../actors/user/reads.ts";
import { callerOf } from "../auth/authorize.ts";
import { GivenTimestamp, page, PageQuery, Uuid } from "../contract/common.ts";
import { CAPABILITIES } from "../contract/enums.ts";
import { isFault, NOT_FOUND } from "../contract/fault.ts";
import { SEARCH_CHARS_MAX } from "../contract/limits.ts";
import { PasswordBody, User, UserBody } from "../contract/identity.ts";
import { faultResponse } from "../http/fault-status.ts";
import { resultsPage, rowsToFetch } from "../http/page.ts";
import { decodePageToken, FOREIGN_PAGE_TOKEN } from "../lib/ids/page-token.ts";
import { answers, answersCreated, answersNothing, jsonBody, refuses, rights } from "./answer.ts";
import type { App, Ctx, RouteDeps, Writes } from "./deps.ts";
import { outlivesCaller } from "../services/new-key.ts";

type Deps = Writes & Pick<RouteDeps, "passwords">;

const tags = ["Users"];
const path = "/v1/system/users/{user_id}";
const params = z.object({ user_id: Uuid });
const ofCapability = params.extend({ capability: z.enum(CAPABILITIES) });
const NO_MORE_THAN_ITSELF =
  "403 if a caller that is not root grants a capability that it does not have, grants silo-admin to a user of another " +
  "tenant, or sets the password of a user who is in another tenant or has more rights.";
const NOT_BY_AN_EXPIRING_KEY = "403 if the calling key has an expiry, because a password has none.";

export function userRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/system/users",
    tags,
    summary: "List users, oldest first",
    ...rights(deps, "SystemRead"),
    request: {
      query: z.object({
        q: z.string().max(SEARCH_CHARS_MAX).optional().describe("A part of the name or the UUID"),
        tenant: Uuid.optional().describe("The users of this tenant only"),
        ...PageQuery,
      }),
    },
    responses: answers(page(User), "The users"),
  });
  app.openapi(listRoute, async (c) => {
    const { q, tenant, limit, page_token } = c.req.valid("query");
    const after = page_token === undefined ? undefined : Cursor.safeParse(decodePageToken(page_token));
    if (after?.success === false) return faultResponse(c, FOREIGN_PAGE_TOKEN);
    const rows = await listUsers(deps.kysely, { q, tenant, after: after?.data, rows: rowsToFetch(limit) });
    const cursorOf = ({ created_at, id }: User) => ({ created_at, id });
    const result = resultsPage({ rows, limit, view: (row) => row, cursorOf, narrow: "limit=" });
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createUserRoute = createRoute({
    method: "post",
    path: "/v1/system/users",
    tags,
    summary: "Create a user with a password",
    description:
      `A user that belongs to a tenant acts in that tenant. ${NO_MORE_THAN_ITSELF} ${NOT_BY_AN_EXPIRING_KEY}`,
    ...rights(deps, "UserCreate"),
    ...refuses(403),
    request: { body: jsonBody(UserBody) },
    responses: answersCreated(User, "The user"),
  });
  app.openapi(createUserRoute, async (c) => {
    const { username, password, tenant_id, capabilities } = c.req.valid("json");
    const outliving = outlivesCaller(callerOf(c), "create a user");
    if (outliving !== null) return faultResponse(c, outliving);
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const by = giver(c);
    // A caller that is not root gets 404 for a tenant of which it is not a member.
    const foreign = tenant_id && !by.is_root && tenant_id !== by.tenant_id;
    const tenant = tenant_id && !foreign ? await findTenant(deps.kysely, tenant_id) : undefined;
    const password_hash = await deps.passwords.hash(password);
    if (typeof password_hash !== "string") return faultResponse(c, password_hash);
    const outcome = await deps.send(c, { kind: "user", id: idempotency.id }, {
      type: "create",
      id: idempotency.id,
      username,
      password_hash,
      tenant_id: tenant_id ?? null,
      silo_id: tenant?.silo_id ?? null,
      capabilities: capabilities ?? [],
      by,
    }, idempotency);
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });

  const showRoute = createRoute({
    method: "get",
    path,
    tags,
    summary: "Show a user",
    ...rights(deps, "SystemRead"),
    request: { params },
    responses: answers(User, "The user"),
  });
  app.openapi(showRoute, async (c) => {
    const found = await findUser(deps.byKey, c.req.valid("param").user_id);
    return found === undefined ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });

  const deleteRoute = createRoute({
    method: "delete",
    path,
    tags,
    summary: "Delete a user that owns no API key, and end the user's sessions",
    description:
      "A user of an issuer is created again when the user next sends a token. The root operator cannot be deleted " +
      "(409).",
    ...rights(deps, "UserDelete"),
    request: { params },
    responses: answersNothing("Deleted"),
  });
  app.openapi(deleteRoute, async (c) => {
    const outcome = await deps.sendOnce(c, { kind: "user", id: c.req.valid("param").user_id }, { type: "delete" });
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });

  const passwordRoute = createRoute({
    method: "put",
    path: `${path}/password`,
    tags,
    summary: "Set the password of a user and end all sessions of the user",
    description: `${NO_MORE_THAN_ITSELF} ${NOT_BY_AN_EXPIRING_KEY}`,
    ...rights(deps, "UserPassword"),
    ...refuses(403),
    request: { params, body: jsonBody(PasswordBody) },
    responses: answers(User, "The user"),
  });
  app.openapi(passwordRoute, async (c) => {
    const outliving = outlivesCaller(callerOf(c), "set a password");
    if (outliving !== null) return faultResponse(c, outliving);
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const password_hash = await deps.passwords.hash(c.req.valid("json").password);
    if (typeof password_hash !== "string") return faultResponse(c, password_hash);
    const to = { kind: "user" as const, id: c.req.valid("param").user_id };
    const outcome = await deps.send(c, to, { type: "set_password", password_hash, by: giver(c) }, idempotency);
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  const grantRoute = createRoute({
    method: "put",
    path: `${path}/capabilities/{capability}`,
    tags,
    summary: "Grant a user a capability",
    description: NO_MORE_THAN_ITSELF,
    ...rights(deps, "UserCapability"),
    ...refuses(403),
    request: { params: ofCapability },
    responses: answers(User, "The user"),
  });
  app.openapi(grantRoute, async (c) => {
    const { user_id, capability } = c.req.valid("param");
    const message = { type: "grant", capability, by: giver(c) } as const;
    const outcome = await deps.sendOnce(c, { kind: "user", id: user_id }, message);
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  const revokeRoute = createRoute({
    method: "delete",
    path: `${path}/capabilities/{capability}`,
    tags,
    summary: "Revoke a capability of a user",
    ...rights(deps, "UserCapability"),
    request: { params: ofCapability },
    responses: answers(User, "The user"),
  });
  app.openapi(revokeRoute, async (c) => {
    const { user_id, capability } = c.req.valid("param");
    const outcome = await deps.sendOnce(c, { kind: "user", id: user_id }, { type: "revoke_capability", capability });
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });
}

const Cursor = z.object({ created_at: GivenTimestamp, id: z.guid() });

function giver(c: Ctx): Giver {
  const { is_root, capabilities, tenant_id } = callerOf(c);
  return { is_root, capabilities, tenant_id };
}
