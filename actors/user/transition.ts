// A user. A caller that is not root grants only capabilities and tenants that it has, and cannot set the password of a
// user with more rights. A new password ends every session of the user in the same commit.
import type { AuditAction } from "../../src/contract/audit-actions.ts";
import type { Capability } from "../../src/contract/enums.ts";
import { conflict, fault, NOT_FOUND } from "../../src/contract/fault.ts";
import type { User } from "../../src/contract/identity.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { audit, go, guard, lock, refuse } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";
import type { Giver, UserMessage } from "./messages.ts";
import type { UserState } from "./state.ts";

type Live = At<UserState, "live">;
type Msg<T extends UserMessage["type"]> = Of<UserMessage, T>;

export const userTable: Table<UserState, UserMessage> = {
  create_root: { absent: createRoot, live: "user exists already" },
  create: { absent: create, live: "user exists already" },
  federate: { absent: federate, live: "ignore" },
  set_password: { absent: "missing", live: setPassword },
  change_password: { absent: "missing", live: changePassword },
  grant: { absent: "missing", live: grant },
  revoke_capability: { absent: "missing", live: revokeCapability },
  delete: { absent: "missing", live: remove },
};

export const BEYOND_CALLER = fault(
  "forbidden",
  "a caller that is not root can grant only capabilities and tenants that it has, and cannot set the password of a " +
    "user with more rights",
  { error_code: "Forbidden" },
);
const ROOT_IS_ROOT = fault("bad_request", "the root operator has all capabilities, and they cannot be changed", {
  error_code: "RootIsRoot",
});
const NO_PASSWORD_HERE = conflict("the user signs in at its issuer and has no password here");
const PASSWORD_MOVED = conflict("the password was changed meanwhile; try again");

const LOCAL = { state: "live", is_root: false, issuer: null, subject: null, session_epoch: 0 } as const;

function createRoot(_s: null, { id, username }: Msg<"create_root">, now: Date): Out<UserState> {
  const nowhere = { tenant_id: null, silo_id: null, password_hash: null, capabilities: [] };
  return made({ ...LOCAL, ...nowhere, id, username, is_root: true, created_at: now });
}

function create(_s: null, m: Msg<"create">, now: Date): Out<UserState> {
  const { type: _type, by, ...given } = m;
  // The route does not refuse an unknown tenant: a repeated request must get its first answer, even if the tenant was
  // deleted meanwhile.
  if (given.tenant_id !== null && given.silo_id === null) return refuse(NOT_FOUND);
  if (exceeds(given, by)) return refuse(BEYOND_CALLER);
  return made({ ...LOCAL, ...given, capabilities: sorted(given.capabilities), created_at: now });
}

function federate(_s: null, m: Msg<"federate">, now: Date): Out<UserState> {
  const { type: _type, ...given } = m;
  return made({ ...LOCAL, ...given, password_hash: null, capabilities: [], created_at: now });
}

function made(user: UserState): Out<UserState> {
  const { id, username, is_root, tenant_id, capabilities, issuer } = user;
  return go(
    user,
    ...(tenant_id === null ? [] : [lock(lockKey("tenant", tenant_id), true)]),
    audit("user_create", resource(id), { username, is_root, tenant_id, capabilities, issuer }),
  );
}

function setPassword(s: Live, { password_hash, by }: Msg<"set_password">): Out<UserState> {
  if (s.issuer !== null) return refuse(NO_PASSWORD_HERE);
  if (!by.is_root && (s.is_root || exceeds(s, by))) return refuse(BEYOND_CALLER);
  return withPassword(s, password_hash, "user_password");
}

function changePassword(s: Live, m: Msg<"change_password">): Out<UserState> {
  if (s.session_epoch !== m.session_epoch) return refuse(PASSWORD_MOVED);
  return withPassword(s, m.password_hash, "change_password");
}

function withPassword(s: Live, password_hash: string, action: AuditAction): Out<UserState> {
  const session_epoch = s.session_epoch + 1;
  return go({ ...s, password_hash, session_epoch }, audit(action, resource(s.id), { username: s.username }));
}

function grant(s: Live, { capability, by }: Msg<"grant">): Out<UserState> {
  if (s.is_root) return refuse(ROOT_IS_ROOT);
  // silo-admin administers the silo of the user's tenant, so a caller may grant it only to users of the caller's
  // tenant.
  const tenant_id = capability === "silo-admin" ? s.tenant_id : null;
  if (exceeds({ capabilities: [capability], tenant_id }, by)) return refuse(BEYOND_CALLER);
  return changed(s, [...s.capabilities.filter((each) => each !== capability), capability], { granted: capability });
}

function revokeCapability(s: Live, { capability }: Msg<"revoke_capability">): Out<UserState> {
  if (s.is_root) return refuse(ROOT_IS_ROOT);
  return changed(s, s.capabilities.filter((each) => each !== capability), { revoked: capability });
}

function changed(s: Live, capabilities: readonly Capability[], note: Record<string, string>): Out<UserState> {
  const next = sorted(capabilities);
  return go({ ...s, capabilities: next }, audit("user_capability", resource(s.id), { ...note, capabilities: next }));
}

/** Deletes the user. The database deletes the user's sessions together with the user's row. */
function remove(s: Live): Out<UserState> {
  if (s.is_root) return refuse(conflict("the root operator cannot be deleted"));
  return go<UserState>(
    null,
    guard("user_owns_no_key", { user_id: s.id }, `user ${s.username} still owns <WHAT>, which must be deleted first`),
    audit("user_delete", resource(s.id), { username: s.username }),
  );
}

/** Returns whether these rights exceed the caller's rights. */
function exceeds(
  { capabilities, tenant_id }: Pick<UserState, "capabilities" | "tenant_id">,
  by: Giver,
): boolean {
  if (by.is_root) return false;
  return (tenant_id !== null && tenant_id !== by.tenant_id) ||
    capabilities.some((capability) => !by.capabilities.includes(capability));
}

function sorted(capabilities: readonly Capability[]): readonly Capability[] {
  return [...new Set(capabilities)].sort();
}

function resource(id: string): string {
  return `User::"${id}"`;
}

/** Returns the view, which does not contain the hash of the password. */
export function userView(s: Omit<UserState, "state" | "password_hash" | "subject" | "session_epoch">): User {
  return {
    id: s.id,
    username: s.username,
    is_root: s.is_root,
    capabilities: [...s.capabilities],
    tenant_id: s.tenant_id,
    silo_id: s.silo_id,
    issuer: s.issuer,
    created_at: toRfc3339(s.created_at),
  };
}

export const user: Behavior<UserState, UserMessage> = {
  kind: "user",
  table: "user_account",
  key: "id",
  from: "user_loaded",
  step: (s, m, now) => runTable(userTable, s, m, now),
  deadline: () => null,
  view: userView,
  constraints: {
    user_local_name: conflict("a user named <username> exists already"),
    user_account_tenant_id_fkey: conflict(
      "a delete of the tenant and a create of its user ran at the same time; try again",
    ),
  },
};
