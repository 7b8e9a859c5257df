// Describes the caller of a request as the API shows it.
import { findSilo } from "../../actors/silo/reads.ts";
import { findTenant } from "../../actors/tenant/reads.ts";
import { permittedActions } from "../auth/authorization.ts";
import type { KnownPrincipal } from "../auth/principal.ts";
import type { Whoami } from "../contract/api-key.ts";
import { toRfc3339 } from "../lib/text/instant.ts";
import type { RouteDeps } from "../routes/deps.ts";

export async function whoami(
  { kysely, version }: Pick<RouteDeps, "kysely" | "version">,
  caller: KnownPrincipal,
): Promise<Whoami> {
  const { tenant_id, home_silo_id, key_id, session_id, scope } = caller;
  const [tenant, silo] = await Promise.all([
    tenant_id === null ? null : findTenant(kysely, tenant_id),
    home_silo_id === null ? null : findSilo(kysely, home_silo_id),
  ]);
  const ofLogin = key_id === null && session_id !== null && scope === "full";
  return {
    user_id: caller.user_id,
    username: caller.username,
    is_root: caller.is_root,
    capabilities: [...caller.capabilities],
    tenant_id,
    tenant_name: tenant?.name ?? null,
    home_silo_id,
    silo_id: caller.key_tenant_id === null ? home_silo_id : null,
    silo_name: silo?.name ?? null,
    key_id,
    session_id,
    scope: ofLogin ? null : scope,
    bound_to_cn: caller.bound_cn,
    expires_at: caller.expires_at === null ? null : toRfc3339(caller.expires_at),
    actions: permittedActions(caller),
    version,
  };
}
