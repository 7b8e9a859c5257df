// Returns the limits of a route's body. The limits depend on the caller: a node for a route of agents, and the root
// operator for any other route.
import { type BodyLimits, bodyLimits } from "../../src/http/body-limits.ts";

const OPERATOR = {
  kind: "user",
  user_id: "operator",
  username: "operator",
  is_root: true,
  capabilities: [],
  tenant_id: null,
  silo_id: null,
  home_silo_id: null,
  key_id: null,
  key_expires_at: null,
  key_tenant_id: null,
  session_id: null,
  scope: "full",
  bound_cn: null,
  expires_at: null,
} as const;

export function limitsOf(path: string): BodyLimits {
  return bodyLimits(path, { ...OPERATOR, bound_cn: path.startsWith("/v1/agent/") ? "node" : null });
}
