// Names the share of the server's resources against which a request counts. A caller cannot enlarge its share with more
// keys, sessions or users (docs/reliability.md, S-48): all keys and users of a tenant have one share together. Each
// node, operator and booter key has its own share.
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
