// Builds the names of the locks that a commit takes on records. A commit that adds a child to a record takes the
// record's lock shared. A commit that deletes the record, or must see all its children, takes the lock exclusively.
// Only this file builds these names: with two different names for one record, two commits would not exclude each other.

/**
 * The kinds of locks. Most lock names contain the record's id. The names of these locks contain another text:
 * - "nic-tag": the tag's name
 * - "quota" and "image-uploads": the tenant's id
 * - "claims": the node's id
 * - "webhooks": the project's id
 */
export type LockedKind =
  | "claims"
  | "cn"
  | "external-subnet"
  | "image"
  | "image-uploads"
  | "nat-gateway"
  | "nic-tag"
  | "placement-group"
  | "project"
  | "quota"
  | "silo"
  | "tenant"
  | "vpc"
  | "webhooks";

/** Returns the name of a record's lock, for the engine's `lock()`. */
export function lockKey(kind: LockedKind, id: string): string {
  return `${kind}:${id}`;
}

/**
 * Returns the name of the lock of the object's project. For an object without a project, returns the name of the lock
 * of its tenant, or null if it has no tenant.
 */
export function parentKey(
  of: { readonly tenant_id: string | null; readonly project_id: string | null },
): string | null {
  if (of.project_id !== null) return lockKey("project", of.project_id);
  return of.tenant_id === null ? null : lockKey("tenant", of.tenant_id);
}
