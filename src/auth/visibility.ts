// Whom an image or an SSH key is for, and who may change it. Document 4, 1.13, 1.14 and 2.7. The two differ in two scopes:
// everybody sees what is public, and only root changes it; every member of a tenant and every key of it sees what is for
// the silo, and only a member with the capability silo-admin changes it. Root is asked for elsewhere.
import type { ScopeKind } from "../contract/enums.ts";
import type { RecordScope, ResourceScope } from "./resource-scope.ts";
import type { KnownPrincipal } from "./principal.ts";

/** `caller` is null for the anonymous. */
export function sees(caller: KnownPrincipal | null, place: ResourceScope | RecordScope): boolean {
  const kind = scopeKindOf(place);
  if (kind === "public") return true;
  if (caller === null) return false;
  return kind === "silo" ? caller.home_silo_id === place.silo_id : isIn(caller, place);
}

export function owns(caller: KnownPrincipal, place: ResourceScope | RecordScope): boolean {
  const kind = scopeKindOf(place);
  if (kind === "public") return false;
  if (kind === "silo") return caller.silo_id !== null && caller.silo_id === place.silo_id;
  return isIn(caller, place);
}

function isIn(caller: KnownPrincipal, place: ResourceScope | RecordScope): boolean {
  if (!("scope_kind" in place) || place.scope_kind !== "user") return caller.tenant_id === place.tenant_id;
  // A credential that is bound to a tenant does not meet what its owner made elsewhere.
  const reaches = caller.key_tenant_id === null || caller.key_tenant_id === place.tenant_id;
  return caller.user_id === place.user_id && reaches;
}

/** A level of the hierarchy is the scope of what is listed and made in it. */
function scopeKindOf(place: ResourceScope | RecordScope): ScopeKind {
  if ("scope_kind" in place) return place.scope_kind;
  if (place.project_id !== null) return "project";
  return place.tenant_id === null ? "silo" : "tenant";
}
