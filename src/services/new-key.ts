// Creates an API key for the caller or for a tenant. A credential cannot create a key with more permissions than its
// own. A key with an expiry cannot create a key that expires later than itself (docs/reliability.md, S-48). A session
// may create a key without an expiry, because the user can log in again at any time. If a session of the web console
// was opened with a key, the session has the limits of the key.
import { callerOf } from "../auth/authorize.ts";
import type { ApiKeyCreated } from "../contract/api-key.ts";
import { type KeyScope, TENANT_KEY_SCOPES } from "../contract/enums.ts";
import { badRequest, conflict, type Fault, fault, isFault } from "../contract/fault.ts";
import { faultResponse } from "../http/fault-status.ts";
import type { KnownPrincipal } from "../auth/principal.ts";
import { toRfc3339 } from "../lib/text/instant.ts";
import { type Ctx, type RouteDeps } from "../routes/deps.ts";

export type WantedKey = {
  readonly description: string;
  readonly scope: KeyScope;
  /** The tenant to bind the key to, or null for a key that acts as the caller. */
  readonly tenant_id: string | null;
  readonly expires_at?: string | null;
};

export const OWN_KEY = conflict("the key that makes this request cannot delete itself; use another key");

/**
 * Creates the key and answers with its secret. The id of the key is the id of the message, so that a repeated request
 * goes to the same actor.
 */
export async function answerNewKey(c: Ctx, deps: Pick<RouteDeps, "idempotency" | "mint" | "send">, wanted: WantedKey) {
  const caller = callerOf(c);
  const expires_at = expiryOf(caller, wanted);
  if (expires_at !== null && !(expires_at instanceof Date)) return faultResponse(c, expires_at);
  if (wanted.tenant_id !== null && !isTenantScope(wanted.scope)) return faultResponse(c, SCOPE_OF_TENANT);
  const idempotency = await deps.idempotency(c);
  if (isFault(idempotency)) return faultResponse(c, idempotency);
  const { text, lookup, secret_sha256 } = deps.mint.apiKey(idempotency.id);
  const { description, scope, tenant_id } = wanted;
  const outcome = await deps.send(c, { kind: "api-key", id: idempotency.id }, {
    type: "create",
    id: idempotency.id,
    lookup,
    secret_sha256,
    user_id: caller.user_id,
    description,
    scope,
    bound_to_cn: null,
    tenant_id,
    expires_at,
  }, idempotency);
  if (!outcome.ok) return faultResponse(c, outcome.fault);
  const created: ApiKeyCreated = { ...outcome.reply, secret: text };
  return c.json(created, 201);
}

const SCOPE_OF_TENANT = badRequest(
  `scope: a key that is bound to a tenant must be ${TENANT_KEY_SCOPES.join(" or ")}`,
);

function isTenantScope(scope: KeyScope): boolean {
  return TENANT_KEY_SCOPES.some((each) => each === scope);
}

/**
 * Returns the expiry of the new key. If the key that makes the request expires, its expiry is the default for the new
 * key, and a later expiry gets a 400. In all other cases, the default is null.
 */
function expiryOf({ key_expires_at: bound }: KnownPrincipal, wanted: WantedKey): Date | null | Fault {
  const asked = wanted.expires_at === null || wanted.expires_at === undefined ? null : new Date(wanted.expires_at);
  if (bound === null) return asked;
  if (asked === null) return bound;
  return asked <= bound ? asked : badRequest(
    `expires_at: must be at or before ${toRfc3339(bound)}, the expiry of the key that makes this request`,
  );
}

/**
 * Returns the 403 for a caller whose key expires: the user or password that the caller creates would outlive the key.
 * Returns null for other callers.
 */
export function outlivesCaller(caller: KnownPrincipal, what: string): Fault | null {
  if (caller.key_expires_at === null) return null;
  return fault(
    "forbidden",
    `a key with an expiry cannot ${what}, because the result would outlive the key; use a key without an expiry`,
    {
      error_code: "Forbidden",
    },
  );
}
