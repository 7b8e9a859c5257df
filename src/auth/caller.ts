// The share of the server that a request counts against. More keys, sessions or users do not enlarge it
// (docs/reliability.md, S-48): the keys and users of a tenant have one share together, each node has its own.
import type { KnownPrincipal } from "./principal.ts";

export type Caller = {
  /** Stable name of the share. */
  readonly id: string;
  /** How many ordinary shares it counts as. */
  readonly shares: number;
};

/** A booter sends requests for all machines of its segments. */
const BOOTER_SHARES = 10;

export function shareOf({ bound_cn, tenant_id, user_id, key_id, scope, is_root }: KnownPrincipal): Caller {
  if (bound_cn !== null) return { id: `node:${bound_cn}`, shares: 1 };
  if (is_root && (scope === "booter" || scope === "ur_enroll")) return { id: `key:${key_id}`, shares: BOOTER_SHARES };
  return { id: tenant_id === null ? `user:${user_id}` : `tenant:${tenant_id}`, shares: 1 };
}
