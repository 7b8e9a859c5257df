// The gate before every route. Order of refusals: 401 for a bad credential (also on anonymous routes), 400 for a missing
// selector, then 403 or 404: first what the credential may do at all, then whether the object is its own. A refused
// caller who is known leaves an audit entry. An object that is gone stands where it stood for the repeated request of a
// caller that it was there for, so that this one hears what it heard (document 4, Fixed here, Idempotency-Key). A known
// caller who asks too often gets 429 before any right is looked at. A request that was held is checked again before it is
// answered: a caller who lost the credential or the right meanwhile gets no content (reliability rule S-11).
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { AuditActor } from "../contract/audit.ts";
import { type Fault, NOT_FOUND } from "../contract/fault.ts";
import { CREDENTIAL_FRESH_MS } from "../contract/limits.ts";
import type { DbClient } from "../db/pool.ts";
import type { Checked } from "../http/body-admission.ts";
import { faultResponse } from "../http/fault-status.ts";
import type { HttpEnv } from "../http/env.ts";
import { type Action } from "./policy.ts";
import { actionId, refusalAt, refusalOf, UNAUTHENTICATED } from "./authorization.ts";
import { shareOf } from "./caller.ts";
import type { Credentials } from "./credential.ts";
import { type Locate, type RecordScope, type ResourceScope, selectorFault } from "./resource-scope.ts";
import type { KnownPrincipal, Principal } from "./principal.ts";

export type AuthorizeOptions = {
  readonly credentials: Credentials;
  /** For the place of an object. */
  readonly db: DbClient;
  /** A node used its key for the first time: what was kept for its delivery is erased before the request goes on. */
  readonly firstUse: (cn: string, key_id: string) => Promise<unknown>;
  /** The key was used; nobody waits for the note. */
  readonly used: (key_id: string) => void;
  readonly denied: (denial: Denied) => Promise<void>;
  /** Counts the request of a known caller: null, or the 429. */
  readonly rate: (principal: KnownPrincipal, method: string) => Fault | null;
  /** Where the object of this request stood, if this caller sent it before under its Idempotency-Key and was answered. */
  readonly savedScope: (c: Context<HttpEnv>, principal: Principal) => Promise<ResourceScope | RecordScope | null>;
  /** The route has answered; nothing was sent yet. */
  readonly answered: (c: Context<HttpEnv>) => Promise<void>;
};

export type Denied = {
  readonly request_id: string;
  readonly actor: AuditActor;
  readonly action: string;
  readonly resource: string | null;
};

export type Authorize = ReturnType<typeof createAuthorize>;

/** Makes `allow(action, locate)`, the middleware that every route names in its definition. */
export function createAuthorize(options: AuthorizeOptions) {
  return (action: Action, locate?: Locate) =>
    createMiddleware<HttpEnv>(async (c, next) => {
      const authorization = c.req.header("authorization");
      const checked = freshlyChecked(c);
      const credential = checked === undefined ? await options.credentials(authorization) : checked.credential;
      if (credential === null) return faultResponse(c, UNAUTHENTICATED);
      const { principal, pending } = credential;
      const known = principal.kind === "user" ? principal : null;
      if (known !== null) {
        c.env?.known?.(shareOf(known).id);
        const tooMany = options.rate(known, c.req.method);
        if (tooMany !== null) return faultResponse(c, tooMany);
      }
      const refusal = refusalOf(action, principal);
      if (refusal === UNAUTHENTICATED) return faultResponse(c, refusal);
      const missing = locate === undefined ? null : selectorFault(c, locate);
      if (missing !== null) return faultResponse(c, missing);
      if (refusal !== null) return await refuse(refusal);
      if (locate !== undefined) {
        const found = await locate.find(c, options.db);
        if (found !== null && "kind" in found) return faultResponse(c, found);
        const hidden = found === null || !("anywhere" in found || refusalAt(action, principal, found) === null);
        // Asked for a foreign object too, which it tells nothing about: both refusals are the same work.
        const savedScope = hidden ? await options.savedScope(c, principal) : null;
        const place = found ?? savedScope;
        // A root operator asks for nothing foreign: what it does not find is no denial.
        if (place === null) return known?.is_root ? faultResponse(c, NOT_FOUND) : await refuse(NOT_FOUND);
        const foreign = "anywhere" in place ? null : refusalAt(action, principal, place);
        if (foreign !== null) return await refuse(foreign);
        if (!("anywhere" in place)) c.set("stands", place);
        if (!("scope_kind" in place || "anywhere" in place)) c.set("place", place);
      }
      if (known !== null) {
        if (known.key_id !== null) options.used(known.key_id);
        if (pending && known.bound_cn !== null && known.key_id !== null) {
          await options.firstUse(known.bound_cn, known.key_id);
        }
      }
      c.set("principal", principal);
      c.set("checkAgain", async () => {
        const again = await options.credentials(authorization);
        if (again === null) return UNAUTHENTICATED;
        const place = c.get("stands");
        return refusalOf(action, again.principal) ??
          (place === undefined ? null : refusalAt(action, again.principal, place));
      });
      await next();
      await options.answered(c);
      const lost = c.get("held") === true ? await c.get("checkAgain")?.() ?? null : null;
      if (lost !== null) {
        // Its headers belong to the answer that is not given.
        c.res = undefined;
        c.res = faultResponse(c, lost);
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

/** What was found from the headers, unless the body took so long that the credential may be gone. */
function freshlyChecked(c: Context<HttpEnv>): Checked | undefined {
  const checked = c.get("checked");
  return checked !== undefined && performance.now() - checked.at_ms <= CREDENTIAL_FRESH_MS ? checked : undefined;
}

/** The caller as the audit chain names it. Document 4, section 6. */
export function auditActor(principal: Principal): AuditActor {
  if (principal.kind === "anonymous") return { kind: "anonymous" };
  const { user_id, key_id, is_root } = principal;
  return key_id === null ? { kind: "operator", user_id, is_root } : { kind: "api_key", key_id, user_id };
}

/** The caller of a route that anonymous ones do not reach. Throws where the policy lets them in, a bug of the route. */
export function callerOf(c: { get(key: "principal"): Principal }): KnownPrincipal {
  const principal = c.get("principal");
  if (principal.kind === "anonymous") throw new Error("a route for known callers met an anonymous one");
  return principal;
}

/** The place that the gate found. Throws where a route has no `locate`, which is a bug of the route. */
export function scopeOf(c: { get(key: "place"): ResourceScope | undefined }): ResourceScope {
  const place = c.get("place");
  if (place === undefined) throw new Error("a route asks for a place that its gate does not find");
  return place;
}
