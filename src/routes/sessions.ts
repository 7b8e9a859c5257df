// Defines the routes for the login sessions of local users (docs/tenancy.md, "Credentials"). Login and refresh
// answer a wrong name, password or token with the same 401. A password change answers a wrong password with 400.
import { createRoute } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { z } from "zod";
import { findDisplaced, findSessionUser } from "../../actors/session/reads.ts";
import type { SessionView } from "../../actors/session/transition.ts";
import { findLocalUser } from "../../actors/user/reads.ts";
import { callerOf } from "../auth/authorize.ts";
import { UNAUTHENTICATED } from "../auth/authorization.ts";
import { badRequest, conflict, type Fault, isFault } from "../contract/fault.ts";
import { LoginBody, PasswordChangeBody, RefreshBody, Tokens } from "../contract/identity.ts";
import { SESSIONS_DISPLACED_MAX, SESSIONS_PER_USER_MAX } from "../contract/limits.ts";
import type { HttpEnv } from "../http/env.ts";
import { faultResponse } from "../http/fault-status.ts";
import { loginPrincipal, passwordLogin } from "../services/password-login.ts";
import { answers, answersNothing, jsonBody, openRights, refuses, rights } from "./answer.ts";
import type { App, RouteDeps, Writes } from "./deps.ts";

type Deps = Writes & Pick<RouteDeps, "audit" | "limits" | "passwords" | "settings" | "tokens">;

const tags = ["Credentials"];
const LIMITED =
  "A source address has 10 attempts a minute (BERTH_LOGIN_PER_MINUTE), which are counted before all other checks. An " +
  "account has 10 failed attempts a minute from all addresses together (BERTH_LOGIN_ACCOUNT_PER_MINUTE). This " +
  "limit is checked before the password: above it, even the correct password gets 429. The same limit applies to " +
  "names without an account.";

export function sessionRoutes(app: App, deps: Deps): void {
  const limited = createMiddleware<HttpEnv>(async (c, next) => {
    const refusal = await deps.limits.login(c.get("clientAddress"));
    if (refusal !== null) return faultResponse(c, refusal);
    await next();
  });

  const login = openRights(deps, "Login");
  const loginRoute = createRoute({
    method: "post",
    path: "/v1/auth/login",
    tags,
    summary: "Open a session with a username and a password",
    description: LIMITED,
    ...login,
    middleware: [limited, ...login.middleware],
    ...refuses(429),
    request: { body: jsonBody(LoginBody) },
    responses: answers(Tokens, "Two tokens: one for requests, one for the next refresh"),
  });
  app.openapi(loginRoute, async (c) => {
    const user = await passwordLogin(c, deps, c.req.valid("json"));
    if (isFault(user)) return faultResponse(c, user);
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const whose = { id: idempotency.id, user_id: user.id, user_epoch: user.session_epoch };
    const [lifetime_s, displaces] = await Promise.all([
      deps.settings.sessionLifetimeS(),
      findDisplaced(deps.kysely, {
        user_id: user.id,
        api_key_id: null,
        keep: SESSIONS_PER_USER_MAX,
        rows: SESSIONS_DISPLACED_MAX,
      }),
    ]);
    const message = { type: "create", ...whose, lifetime_s, displaces } as const;
    const outcome = await deps.send(c, { kind: "session", id: idempotency.id }, message, idempotency);
    if (!outcome.ok) return faultResponse(c, refusalOf(outcome.fault));
    return c.json(await tokensOf(deps, user, outcome.reply), 200);
  });

  const refreshRoute = createRoute({
    method: "post",
    path: "/v1/auth/refresh",
    tags,
    summary: "Exchange a refresh token for new tokens",
    description:
      "Each refresh token is valid once. For a client that lost the response, the previous refresh token still gets " +
      "the same tokens for a minute; an older token ends the session. A session ends a day after its last refresh, " +
      "and at the latest `session.lifetime_secs` (7 days) after the login. After that, the response is 401.",
    ...openRights(deps, "Refresh"),
    request: { body: jsonBody(RefreshBody) },
    responses: answers(Tokens, "The next tokens"),
  });
  app.openapi(refreshRoute, async (c) => {
    const claims = await deps.tokens.readRefresh(c.req.valid("json").refresh_token);
    const user = claims === null ? undefined : await findSessionUser(deps.kysely, claims.sid);
    if (claims === null || user === undefined) return faultResponse(c, UNAUTHENTICATED);
    c.set("principal", loginPrincipal(user));
    const { sid: id, generation } = claims;
    const lifetime_s = await deps.settings.sessionLifetimeS();
    const outcome = await deps.sendOnce(c, { kind: "session", id }, { type: "refresh", generation, lifetime_s });
    if (!outcome.ok) return faultResponse(c, refusalOf(outcome.fault));
    // The session has ended: it expired, or the refresh token was too old.
    if (outcome.reply === null) return faultResponse(c, UNAUTHENTICATED);
    return c.json(await tokensOf(deps, user, outcome.reply), 200);
  });

  const logoutRoute = createRoute({
    method: "post",
    path: "/v1/auth/logout",
    tags,
    summary: "End the session of this access token",
    ...rights(deps, "Logout"),
    request: { query: z.object({}) },
    responses: answersNothing("The session has ended, and its tokens are refused from now on"),
  });
  app.openapi(logoutRoute, async (c) => {
    const { session_id } = callerOf(c);
    if (session_id === null) {
      return faultResponse(c, badRequest("this credential is not a session token, so there is no session to end"));
    }
    const outcome = await deps.sendOnce(c, { kind: "session", id: session_id }, { type: "end" });
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });

  const password = rights(deps, "ChangePassword");
  const passwordRoute = createRoute({
    method: "post",
    path: "/v1/auth/password",
    tags,
    summary: "Change the caller's password and end all sessions of the caller, including this one",
    description: `400 for a wrong current password. ${LIMITED}`,
    ...password,
    middleware: [limited, ...password.middleware],
    ...refuses(429),
    request: { body: jsonBody(PasswordChangeBody) },
    responses: answersNothing("Changed"),
  });
  app.openapi(passwordRoute, async (c) => {
    const { user_id, key_tenant_id } = callerOf(c);
    const wanted = c.req.valid("json");
    // A key that is bound to a tenant does not act as its owner.
    const user = key_tenant_id === null ? await findLocalUser(deps.kysely, "id", user_id) : undefined;
    if (user === undefined || user.password_hash === null) return faultResponse(c, NO_PASSWORD);
    const tooMany = await deps.limits.password(user.username);
    if (tooMany !== null) return faultResponse(c, tooMany);
    const right = await deps.passwords.verify(wanted.current_password, user.password_hash);
    if (right !== false) await deps.limits.passwordRight(user.username);
    if (typeof right !== "boolean") return faultResponse(c, right);
    if (!right) return faultResponse(c, WRONG_PASSWORD);
    const password_hash = await deps.passwords.hash(wanted.password);
    if (typeof password_hash !== "string") return faultResponse(c, password_hash);
    const message = { type: "change_password", password_hash, session_epoch: user.session_epoch } as const;
    const outcome = await deps.sendOnce(c, { kind: "user", id: user.id }, message);
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });
}

const NO_PASSWORD = conflict("the user of this credential has no password on this server");
const WRONG_PASSWORD = badRequest("current_password: is wrong");

type WhoseTokens = { readonly tenant_id: string | null };

async function tokensOf({ tokens }: Deps, { tenant_id }: WhoseTokens, session: SessionView): Promise<Tokens> {
  const { refreshed_at, expires_at } = session;
  return await tokens.issue({
    ...session,
    tenant_id,
    refreshed_at: new Date(refreshed_at),
    expires_at: expires_at === undefined ? null : new Date(expires_at),
  });
}

/**
 * Returns 401 for a deleted user or session, because a caller without a credential must not learn which of the two was
 * deleted.
 */
function refusalOf(fault: Fault): Fault {
  return fault.kind === "not_found" || fault.kind === "conflict" ? UNAUTHENTICATED : fault;
}
