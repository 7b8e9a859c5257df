// Authorizes each request before its route runs. The refusals have this order:
// - 403 for a write that another site's page sent with the cookie
// - 401 for a bad credential, even on routes that need no credential
// - 429 for an authenticated caller above its rate
// - 401 for a missing credential
// - 400 for a missing selector
// - 403 or 404 for the action in general
// - 400 for an id that is not a UUID
// - 403 or 404 for the object
//
// If the policy refuses an authenticated caller with a 403 or 404, or the object is missing, the refusal is audited.
// The 404 of a root operator for a missing object is not audited. If a request is repeated after its object was
// deleted, the saved scope of the object is used, so the repeated request gets the same answer. A request that waits,
// such as a long poll, is authorized again before it is answered: a caller that has lost its credential or permission
// gets only the refusal (docs/reliability.md, S-11). This second refusal is not audited.
//
// The cookie of the web console is used only if the request has no Authorization header. Routes with the rule `anyone`
// ignore the cookie, so that an ended session does not prevent the next login. A request that writes and uses the
// cookie must come from a page of this server. If a request that uses the cookie gets a 401, the answer deletes the
// cookie.
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { AuditActor } from "../contract/audit.ts";
import { type Fault, NOT_FOUND } from "../contract/fault.ts";
import { CREDENTIAL_FRESH_MS, WEB_SESSION_TOUCH_S } from "../contract/limits.ts";
import type { FindRow } from "../db/shared-finds.ts";
import type { Checked } from "../http/body-admission.ts";
import { faultResponse } from "../http/fault-status.ts";
import type { HttpEnv } from "../http/env.ts";
import { type Action, POLICY } from "./policy.ts";
import { actionId, refusalAt, refusalOf, UNAUTHENTICATED } from "./authorization.ts";
import { shareOf } from "./caller.ts";
import type { Credentials, Presented } from "./credential.ts";
import { type Locate, type RecordScope, type ResourceScope, selectorFault } from "./resource-scope.ts";
import type { KnownPrincipal, Principal } from "./principal.ts";
import { foreignWrite, NO_WEB_SESSION, webSessionToken } from "./web-session-cookie.ts";

export type AuthorizeOptions = {
  readonly credentials: Credentials;
  /** Reads the scope of an object. */
  readonly findRow: FindRow;
  /**
   * Called when a node first uses its key. Erases the server's copy of the key, which was kept for delivery, before the
   * request continues.
   */
  readonly firstUse: (cn: string, key_id: string) => Promise<unknown>;
  /** Records that the key was used, without waiting for the write. */
  readonly used: (key_id: string) => void;
  /** Records that a session of the web console was used, without waiting for the write. */
  readonly touched: (session_id: string) => void;
  readonly denied: (denial: Denied) => Promise<void>;
  /** Counts a request of an authenticated caller. Returns null, or the 429 if the caller exceeds its rate. */
  readonly rate: (principal: KnownPrincipal, method: string) => Fault | null;
  /**
   * Returns the scope that was saved with this caller's Idempotency-Key; null if no earlier request with this key was
   * answered.
   */
  readonly savedScope: (c: Context<HttpEnv>, principal: Principal) => Promise<ResourceScope | RecordScope | null>;
  /** Called after the route has answered and before the answer is sent. */
  readonly answered: (c: Context<HttpEnv>) => Promise<void>;
};

export type Denied = {
  readonly request_id: string;
  readonly actor: AuditActor;
  readonly action: string;
  readonly resource: string | null;
};

export type Authorize = ReturnType<typeof createAuthorize>;

/** Returns `allow(action, locate)`, which returns the middleware that authorizes a route. */
export function createAuthorize(options: AuthorizeOptions) {
  return (action: Action, locate?: Locate) =>
    createMiddleware<HttpEnv>(async (c, next) => {
      const presented = presentedTo(action, c);
      const foreign = presented.cookie === undefined ? null : foreignWrite(c);
      if (foreign !== null) return faultResponse(c, foreign);
      const checked = ignoresCookie(presented, c) ? undefined : freshlyChecked(c);
      const credential = checked === undefined ? await options.credentials(presented) : checked.credential;
      if (credential === null) return unauthenticated();
      const { principal, pending, idle_s = 0 } = credential;
      const known = principal.kind === "user" ? principal : null;
      if (known !== null) {
        c.env?.known?.(shareOf(known).id);
        const tooMany = options.rate(known, c.req.method);
        if (tooMany !== null) return faultResponse(c, tooMany);
      }
      const refusal = refusalOf(action, principal);
      if (refusal === UNAUTHENTICATED) return unauthenticated();
      const missing = locate === undefined ? null : selectorFault(c, locate);
      if (missing !== null) return faultResponse(c, missing);
      if (refusal !== null) return await refuse(refusal);
      if (locate !== undefined) {
        const found = await locate.find(c, options.findRow);
        if (found !== null && "kind" in found) return faultResponse(c, found);
        const hidden = found === null || !("anywhere" in found || refusalAt(action, principal, found) === null);
        // For a caller without access, the saved scope is read even if the object exists. If it were read only for a
        // missing object, the response time would reveal whether the object exists.
        const savedScope = hidden ? await options.savedScope(c, principal) : null;
        const scope = found ?? savedScope;
        // A root operator may access every object, so its 404 means that the object is missing, and is not audited.
        if (scope === null) return known?.is_root ? faultResponse(c, NOT_FOUND) : await refuse(NOT_FOUND);
        const outside = "anywhere" in scope ? null : refusalAt(action, principal, scope);
        if (outside !== null) return await refuse(outside);
        if (!("anywhere" in scope)) c.set("recordScope", scope);
        if (!("scope_kind" in scope || "anywhere" in scope)) c.set("resourceScope", scope);
      }
      if (known !== null) {
        if (known.key_id !== null) options.used(known.key_id);
        if (known.session_id !== null && idle_s >= WEB_SESSION_TOUCH_S) options.touched(known.session_id);
        if (pending && known.bound_cn !== null && known.key_id !== null) {
          await options.firstUse(known.bound_cn, known.key_id);
        }
      }
      c.set("principal", principal);
      c.set("checkAgain", async () => {
        const again = await options.credentials(presented);
        if (again === null) return UNAUTHENTICATED;
        c.set("principal", again.principal);
        const scope = c.get("recordScope");
        return refusalOf(action, again.principal) ??
          (scope === undefined ? null : refusalAt(action, again.principal, scope));
      });
      await next();
      await options.answered(c);
      const lost = c.get("held") === true ? await c.get("checkAgain")?.() ?? null : null;
      if (lost !== null) {
        // Drops the headers of the route's answer, which hono would otherwise merge into the refusal.
        c.res = undefined;
        c.res = lost === UNAUTHENTICATED ? unauthenticated() : faultResponse(c, lost);
      }

      function unauthenticated() {
        if (presented.cookie !== undefined) c.header("set-cookie", NO_WEB_SESSION);
        return faultResponse(c, UNAUTHENTICATED);
      }

      async function refuse(why: Fault) {
        if (known !== null) await recordDenied(c.get("requestId"), known, action);
        return faultResponse(c, why);
      }
    });

  async function recordDenied(request_id: string, principal: KnownPrincipal, action: Action): Promise<void> {
    await options.denied({ request_id, actor: auditActor(principal), action: actionId(action), resource: null });
  }
}

/** Returns the credentials that a route with this action uses. Routes with the rule `anyone` ignore the cookie. */
function presentedTo(action: Action, c: Context<HttpEnv>): Presented {
  const authorization = c.req.header("authorization");
  const counts = authorization === undefined && POLICY[action].who !== "anyone";
  return { authorization, cookie: counts ? webSessionToken(c.req.header("cookie")) : undefined };
}

/** Returns whether the request has no Authorization header, and a cookie that this route ignores. */
function ignoresCookie({ authorization, cookie }: Presented, c: Context<HttpEnv>): boolean {
  return authorization === undefined && cookie === undefined && c.req.header("cookie") !== undefined;
}

/**
 * Returns the check of the credential that ran before the body was read. Returns undefined if no check ran, or if the
 * check may be stale because reading the body took long.
 */
function freshlyChecked(c: Context<HttpEnv>): Checked | undefined {
  const checked = c.get("checked");
  return checked !== undefined && performance.now() - checked.at_ms <= CREDENTIAL_FRESH_MS ? checked : undefined;
}

/** Returns the caller in the form that the audit chain stores. */
export function auditActor(principal: Principal): AuditActor {
  if (principal.kind === "anonymous") return { kind: "anonymous" };
  const { user_id, key_id, is_root } = principal;
  return key_id === null ? { kind: "operator", user_id, is_root } : { kind: "api_key", key_id, user_id };
}

/**
 * Returns the caller of a route that requires a credential. Throws if the caller is anonymous (a bug in the policy).
 */
export function callerOf(c: { get(key: "principal"): Principal }): KnownPrincipal {
  const principal = c.get("principal");
  if (principal.kind === "anonymous") throw new Error("an anonymous caller reached a route that needs a credential");
  return principal;
}

/**
 * Returns the resource scope that the authorization found. Throws if the route has no `locate`, or if its `locate`
 * found no ResourceScope (a bug).
 */
export function scopeOf(c: { get(key: "resourceScope"): ResourceScope | undefined }): ResourceScope {
  const scope = c.get("resourceScope");
  if (scope === undefined) throw new Error("the route needs a resource scope but has no `locate`");
  return scope;
}
