// Opens sessions of the web console.
import { findDisplaced } from "../../actors/session/reads.ts";
import type { SessionGrant } from "../../actors/session/transition.ts";
import { UNAUTHENTICATED } from "../auth/authorization.ts";
import type { KnownPrincipal } from "../auth/principal.ts";
import { webSessionCookie } from "../auth/web-session-cookie.ts";
import type { Fault } from "../contract/fault.ts";
import { SESSIONS_DISPLACED_MAX, SESSIONS_PER_USER_MAX } from "../contract/limits.ts";
import type { Ctx, IdempotencyClaim, RouteDeps } from "../routes/deps.ts";

type Deps = Pick<RouteDeps, "credentials" | "kysely" | "newId" | "send" | "settings" | "tokens">;

/** The opener of a session: an API key, or a user with a password or an ID token. */
export type Opening = {
  readonly user_id: string;
  readonly user_epoch: number;
  readonly api_key_id: string | null;
  /** The rights from a token of the identity service; undefined for other openers. */
  readonly granted?: SessionGrant;
};

/** Opens a session, sets its cookie and returns its principal, or returns the refusal. */
export async function openWebSession(
  c: Ctx,
  deps: Deps,
  opening: Opening,
  idempotency?: IdempotencyClaim,
): Promise<KnownPrincipal | Fault> {
  const id = idempotency?.id ?? deps.newId();
  const [lasts, displaces] = await Promise.all([
    deps.settings.webSessionLimits(),
    findDisplaced(deps.kysely, { ...opening, keep: SESSIONS_PER_USER_MAX, rows: SESSIONS_DISPLACED_MAX }),
  ]);
  const { granted = null } = opening;
  const message = { type: "open", id, ...opening, granted, lasts, displaces } as const;
  const outcome = await deps.send(c, { kind: "session", id }, message, idempotency);
  // A conflict means that the user or the key was deleted after the check.
  if (!outcome.ok) return outcome.fault.kind === "conflict" ? UNAUTHENTICATED : outcome.fault;
  const token = await deps.tokens.issueWeb({ id, user_id: opening.user_id });
  const opened = await deps.credentials({ authorization: undefined, cookie: token });
  if (opened === null || opened.principal.kind === "anonymous") return UNAUTHENTICATED;
  c.header("set-cookie", webSessionCookie(token, lasts.lifetime_s));
  return opened.principal;
}
