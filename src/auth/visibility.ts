// Decides whether a caller may see or change an image or an SSH key. In two scopes, more callers may see a record than
// change it. Everybody may see a public record, but only root may change it. All members and keys of a silo's tenants
// may see a record of the silo, but only members with the capability silo-admin may change it. The code that calls
// these functions checks for root.
import type { ScopeKind } from "../contract/enums.ts";
import type { RecordScope, ResourceScope } from "./resource-scope.ts";
import type { KnownPrincipal } from "./principal.ts";

/** Returns whether the caller may see the record. `caller` is null for an anonymous caller. */
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
  // A key that is bound to a tenant reaches only those records of its owner that a credential of this tenant created.
  const reaches = caller.key_tenant_id === null || caller.key_tenant_id === scope.tenant_id;
  return caller.user_id === scope.user_id && reaches;
}

/**
 * Returns the kind of the scope. The resource scope of a list or of a new record has no `scope_kind`. Its kind is its
 * lowest level: project, tenant or silo.
 */
function scopeKindOf(scope: ResourceScope | RecordScope): ScopeKind {
  if ("scope_kind" in scope) return scope.scope_kind;
  if (scope.project_id !== null) return "project";
  return scope.tenant_id === null ? "silo" : "tenant";
}
