// Whose share of the server a request uses. A limit binds its subject (reliability.md S-48): more keys, sessions or users
// give no caller a larger share, so the keys and users of one tenant share one, and each node has its own.
import type { KnownPrincipal } from "./principal.ts";

export type Caller = {
  /** Stable text that names the share. */
  readonly id: string;
  /** How many shares it is worth. */
  readonly shares: number;
};

/** A booter speaks for all machines of its segments. */
const BOOTER_SHARES = 10;

export function shareOf({ bound_cn, tenant_id, user_id, key_id, scope, is_root }: KnownPrincipal): Caller {
  if (bound_cn !== null) return { id: `node:${bound_cn}`, shares: 1 };
  if (is_root && (scope === "booter" || scope === "ur_enroll")) return { id: `key:${key_id}`, shares: BOOTER_SHARES };
  return { id: tenant_id === null ? `user:${user_id}` : `tenant:${tenant_id}`, shares: 1 };
}
