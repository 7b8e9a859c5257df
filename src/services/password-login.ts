// Checks a user name and a password. A wrong name and a wrong password get the same 401 after the same work.
import { findLocalUser, type LocalUser } from "../../actors/user/reads.ts";
import { WRONG_LOGIN } from "../auth/authorization.ts";
import type { KnownPrincipal } from "../auth/principal.ts";
import type { Fault } from "../contract/fault.ts";
import type { LoginBody } from "../contract/identity.ts";
import type { Ctx, RouteDeps } from "../routes/deps.ts";

type Deps = Pick<RouteDeps, "audit" | "kysely" | "limits" | "passwords">;

/** Returns the user and makes it the caller of the request, or returns the refusal. */
export async function passwordLogin(
  c: Ctx,
  deps: Deps,
  { username, password }: LoginBody,
): Promise<LocalUser | Fault> {
  const tooMany = await deps.limits.password(username);
  if (tooMany !== null) return tooMany;
  const user = await findLocalUser(deps.kysely, "username", username);
  const right = await deps.passwords.verify(password, user?.password_hash ?? null);
  // If the server is too busy to check the password, `right` is a Fault, which does not count as a failed login.
  if (right !== false) await deps.limits.passwordRight(username);
  if (typeof right !== "boolean") return right;
  if (user === undefined || !right) {
    await deps.audit.refusedLogin(c, user?.id ?? null);
    return WRONG_LOGIN;
  }
  c.set("principal", loginPrincipal(user));
  return user;
}

type WhoseSession = Omit<LocalUser, "password_hash" | "session_epoch" | "issuer" | "created_at">;

/** Returns the principal of a user whose password or token is valid, for the audit chain. */
export function loginPrincipal(user: WhoseSession): KnownPrincipal {
  const { id, username, is_root, capabilities, tenant_id, silo_id } = user;
  const administers = capabilities.includes("silo-admin") ? silo_id : null;
  const whose = {
    user_id: id,
    username,
    is_root,
    capabilities,
    tenant_id,
    silo_id: administers,
    home_silo_id: silo_id,
  };
  const no_key = { key_id: null, key_expires_at: null, key_tenant_id: null };
  return { kind: "user", ...whose, ...no_key, session_id: null, bound_cn: null, expires_at: null, scope: "full" };
}
