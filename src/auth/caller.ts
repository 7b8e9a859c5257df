// Finds the caller to which a request is charged. Each caller has a share of the server's resources, such as a rate
// limit. All keys, sessions and users of a tenant together have one share, so more of them do not enlarge it
// (docs/reliability.md, S-48). Each node, each operator and each root key with the scope `booter` or `ur_enroll` has
// its own share.
import type { KnownPrincipal } from "./principal.ts";

export type Caller = {
  /** The name of the share. It does not change between requests. */
  readonly id: string;
  /** The caller's rate limit as a multiple of the limit of an ordinary caller. */
  readonly shares: number;
};

/** A booter sends requests on behalf of all machines of its network segments. */
const BOOTER_SHARES = 10;

export function shareOf({ bound_cn, tenant_id, user_id, key_id, scope, is_root }: KnownPrincipal): Caller {
  if (bound_cn !== null) return { id: `node:${bound_cn}`, shares: 1 };
  if (is_root && (scope === "booter" || scope === "ur_enroll")) return { id: `key:${key_id}`, shares: BOOTER_SHARES };
  return { id: tenant_id === null ? `user:${user_id}` : `tenant:${tenant_id}`, shares: 1 };
}
