// Decides whether a caller may see or change an image or an SSH key. The two permissions differ in two scopes. Public:
// everybody sees, only root changes. Silo: every member and key of the silo's tenants sees, only a member with the
// capability silo-admin changes. Callers check for root themselves.
import type { ScopeKind } from "../contract/enums.ts";
import type { RecordScope, ResourceScope } from "./resource-scope.ts";
import type { KnownPrincipal } from "./principal.ts";

/** Returns whether the caller may see the record; null is an anonymous caller. */
export function sees(caller: KnownPrincipal | null, scope: ResourceScope | RecordScope): boolean {
  const kind = scopeKindOf(scope);
  if (kind === "public") return true;
  if (caller === null) return false;
  return kind === "silo" ? caller.home_silo_id === scope.silo_id : isIn(caller, scope);
}

export function owns(caller: KnownPrincipal, scope: ResourceScope | RecordScope): boolean {
  const kind = scopeKindOf(scope);
  if (kind === "public") return false;
  if (kind === "silo") return caller.silo_id !== null && caller.silo_id === scope.silo_id;
  return isIn(caller, scope);
}

function isIn(caller: KnownPrincipal, scope: ResourceScope | RecordScope): boolean {
  if (!("scope_kind" in scope) || scope.scope_kind !== "user") return caller.tenant_id === scope.tenant_id;
  // A key that is bound to a tenant does not see the records that its owner created elsewhere.
  const reaches = caller.key_tenant_id === null || caller.key_tenant_id === scope.tenant_id;
  return caller.user_id === scope.user_id && reaches;
}

/** Objects that are listed or created in a level of the hierarchy have that level as their scope. */
function scopeKindOf(scope: ResourceScope | RecordScope): ScopeKind {
  if ("scope_kind" in scope) return scope.scope_kind;
  if (scope.project_id !== null) return "project";
  return scope.tenant_id === null ? "silo" : "tenant";
}
