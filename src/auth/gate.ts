// The gate before every route. Order of refusals: 401 for a bad credential (also on anonymous routes), 400 for a missing
// selector, then 403 or 404: first what the credential may do at all, then whether the object is its own. A refused
// caller who is known leaves an audit entry. An object that is gone stands where it stood for the repeated request of a
// caller that it was there for, so that this one hears what it heard (document 4, Fixed here, Idempotency-Key).
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { AuditActor } from "../contract/audit.ts";
import { type Fault, NOT_FOUND } from "../contract/fault.ts";
import type { DbClient } from "../db/pool.ts";
import { faultResponse } from "../http/fault-status.ts";
import type { HttpEnv } from "../http/env.ts";
import { type Action } from "./policy.ts";
import { actionId, refusalAt, refusalOf, UNAUTHENTICATED } from "./verdict.ts";
import type { Credentials } from "./credential.ts";
import { type Locate, type Place, type ScopedPlace, selectorFault } from "./place.ts";
import type { KnownPrincipal, Principal } from "./principal.ts";

export type GateOptions = {
  readonly credentials: Credentials;
  /** For the place of an object. */
  readonly db: DbClient;
  /** A node used its key for the first time: what was kept for its delivery is erased before the request goes on. */
  readonly firstUse: (cn: string, key_id: string) => Promise<unknown>;
  /** The key was used; nobody waits for the note. */
  readonly used: (key_id: string) => void;
  readonly denied: (denial: Denied) => Promise<void>;
  /** Where the object of this request stood, if this caller sent it before under its Idempotency-Key and was answered. */
  readonly stood: (c: Context<HttpEnv>, principal: Principal) => Promise<Place | ScopedPlace | null>;
};

export type Denied = {
  readonly request_id: string;
  readonly actor: AuditActor;
  readonly action: string;
  readonly resource: string | null;
};

export type Gate = ReturnType<typeof createGate>;

/** Makes `allow(action, locate)`, the middleware that every route names in its definition. */
export function createGate(options: GateOptions) {
  return (action: Action, locate?: Locate) =>
    createMiddleware<HttpEnv>(async (c, next) => {
      const credential = await options.credentials(c.req.header("authorization"));
      if (credential === null) return faultResponse(c, UNAUTHENTICATED);
      const { principal, pending } = credential;
      const known = principal.kind === "user" ? principal : null;
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
        const stood = hidden ? await options.stood(c, principal) : null;
        const place = found ?? stood;
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
      await next();

      async function refuse(why: Fault) {
        if (known !== null) await recordDenied(c.get("requestId"), known, action);
        return faultResponse(c, why);
      }
    });

  async function recordDenied(request_id: string, principal: KnownPrincipal, action: Action): Promise<void> {
    await options.denied({ request_id, actor: auditActor(principal), action: actionId(action), resource: null });
  }
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
export function placeOf(c: { get(key: "place"): Place | undefined }): Place {
  const place = c.get("place");
  if (place === undefined) throw new Error("a route asks for a place that its gate does not find");
  return place;
}
