// The gate before every route: the credential, then the right. Order of refusals: 401 for a bad credential (also on
// anonymous routes), then 403 or 404. A refused caller who is known leaves an audit entry.
import { createMiddleware } from "hono/factory";
import type { AuditActor } from "../contract/audit.ts";
import { faultResponse } from "../http/fault-status.ts";
import type { HttpEnv } from "../http/env.ts";
import { type Action, actionId, refusalOf, UNAUTHENTICATED } from "./policy.ts";
import type { Credentials } from "./credential.ts";
import type { KnownPrincipal, Principal } from "./principal.ts";

export type GateOptions = {
  readonly credentials: Credentials;
  /** A node used its key for the first time: what was kept for its delivery is erased before the request goes on. */
  readonly firstUse: (cn: string, key_id: string) => Promise<unknown>;
  /** The key was used; nobody waits for the note. */
  readonly used: (key_id: string) => void;
  readonly denied: (denial: Denied) => Promise<void>;
};

export type Denied = {
  readonly request_id: string;
  readonly actor: AuditActor;
  readonly action: string;
  readonly resource: string | null;
};

export type Gate = ReturnType<typeof createGate>;

/** Makes `allow(action)`, the middleware that every route names in its definition. */
export function createGate(options: GateOptions) {
  return (action: Action) =>
    createMiddleware<HttpEnv>(async (c, next) => {
      const credential = await options.credentials(c.req.header("authorization"));
      if (credential === null) return faultResponse(c, UNAUTHENTICATED);
      const { principal, pending } = credential;
      const refusal = refusalOf(action, principal);
      if (refusal !== null) {
        if (principal.kind === "user") await recordDenied(c.get("requestId"), principal, action);
        return faultResponse(c, refusal);
      }
      if (principal.kind === "user") {
        options.used(principal.key_id);
        if (pending && principal.bound_cn !== null) await options.firstUse(principal.bound_cn, principal.key_id);
      }
      c.set("principal", principal);
      await next();
    });

  async function recordDenied(request_id: string, principal: KnownPrincipal, action: Action): Promise<void> {
    await options.denied({ request_id, actor: auditActor(principal), action: actionId(action), resource: null });
  }
}

/** The caller as the audit chain names it. Document 4, section 6. */
export function auditActor(principal: Principal): AuditActor {
  if (principal.kind === "anonymous") return { kind: "anonymous" };
  return { kind: "api_key", key_id: principal.key_id, user_id: principal.user_id };
}
