// Defines the routes for sessions of the web console (docs/web-console.md, "Sessions"). A browser stores the session as
// a cookie that scripts cannot read.
import { createRoute } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { z } from "zod";
import { findSessionEpoch } from "../../actors/user/reads.ts";
import { callerOf } from "../auth/authorize.ts";
import { UNAUTHENTICATED } from "../auth/authorization.ts";
import { foreignPage, NO_WEB_SESSION } from "../auth/web-session-cookie.ts";
import { Whoami } from "../contract/api-key.ts";
import type { KeyScope } from "../contract/enums.ts";
import { badRequest, type Fault, fault, isFault } from "../contract/fault.ts";
import { WebSessionBody } from "../contract/identity.ts";
import type { HttpEnv } from "../http/env.ts";
import { faultResponse } from "../http/fault-status.ts";
import { parseApiKey } from "../lib/ids/api-key.ts";
import { passwordLogin } from "../services/password-login.ts";
import { type Opening, openWebSession } from "../services/web-session.ts";
import { whoami } from "../services/whoami.ts";
import { answers, answersNothing, jsonBody, openRights, refuses, rights } from "./answer.ts";
import type { App, Ctx, RouteDeps, Writes } from "./deps.ts";

type Deps =
  & Writes
  & Pick<RouteDeps, "audit" | "credentials" | "limits" | "newId" | "passwords" | "settings" | "tokens" | "version">;

const tags = ["Credentials"];
/** The scopes of keys that people use. The other scopes are for the programs of nodes and booters. */
const SCOPES_OF_PEOPLE: ReadonlySet<KeyScope> = new Set(["full", "read_only", "audit_only"]);
const WRONG_SCOPE = fault("forbidden", "a key of this scope cannot open a session of the web console", {
  error_code: "Forbidden",
});
const NO_SESSION = badRequest("this credential is not a session of the web console, so there is no session to end");

export function webSessionRoutes(app: App, deps: Deps): void {
  const own = createMiddleware<HttpEnv>(async (c, next) => {
    const refusal = foreignPage(c) ?? await deps.limits.login(c.get("clientAddress"));
    if (refusal !== null) return faultResponse(c, refusal);
    await next();
  });

  const open = openRights(deps, "WebSessionOpen");
  const openRoute = createRoute({
    method: "post",
    path: "/v1/console/session",
    tags,
    summary: "Open a session of the web console",
    description:
      "Sets a cookie. With an API key, the session has the key's rights and ends with the key. The limits of " +
      "`POST /v1/auth/login` apply. 403 if a page of another site sent the request.",
    ...open,
    middleware: [own, ...open.middleware],
    ...refuses(403, 429),
    request: { body: jsonBody(WebSessionBody) },
    responses: answers(Whoami, "The caller, and the cookie"),
  });
  app.openapi(openRoute, async (c) => {
    const { username, password, api_key } = c.req.valid("json");
    const opening = api_key != null
      ? await ofKey(c, api_key)
      : await ofPassword(c, { username: username ?? "", password: password ?? "" });
    if (isFault(opening)) return faultResponse(c, opening);
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const opened = await openWebSession(c, deps, opening, idempotency);
    return isFault(opened) ? faultResponse(c, opened) : c.json(await whoami(deps, opened), 200);
  });

  const closeRoute = createRoute({
    method: "delete",
    path: "/v1/console/session",
    tags,
    summary: "End this session of the web console",
    ...rights(deps, "Logout"),
    request: { query: z.object({}) },
    responses: answersNothing("The session has ended: the cookie is deleted, and refused from now on"),
  });
  app.openapi(closeRoute, async (c) => {
    const { session_id } = callerOf(c);
    if (session_id === null) return faultResponse(c, NO_SESSION);
    const outcome = await deps.sendOnce(c, { kind: "session", id: session_id }, { type: "end" });
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    c.header("set-cookie", NO_WEB_SESSION);
    return c.body(null, 204);
  });

  async function ofPassword(c: Ctx, login: { username: string; password: string }): Promise<Opening | Fault> {
    const user = await passwordLogin(c, deps, login);
    return isFault(user) ? user : { user_id: user.id, user_epoch: user.session_epoch, api_key_id: null };
  }

  async function ofKey(c: Ctx, text: string): Promise<Opening | Fault> {
    const credential = parseApiKey(text) === null
      ? null
      : await deps.credentials({ authorization: `Bearer ${text}`, cookie: undefined });
    if (credential === null || credential.principal.kind === "anonymous" || credential.principal.key_id === null) {
      await deps.audit.refusedLogin(c, null);
      return UNAUTHENTICATED;
    }
    const { user_id, key_id, scope, bound_cn } = credential.principal;
    if (bound_cn !== null || !SCOPES_OF_PEOPLE.has(scope)) return WRONG_SCOPE;
    c.set("principal", credential.principal);
    const user_epoch = await findSessionEpoch(deps.kysely, user_id);
    return user_epoch === undefined ? UNAUTHENTICATED : { user_id, user_epoch, api_key_id: key_id };
  }
}
