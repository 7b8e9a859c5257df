// Names of the locks that a commit takes on records. A commit that adds a child to a record takes the record's lock
// shared; a commit that deletes the record, or must see all its children, takes the lock exclusively. Only this file
// builds these names, because two different names for one record would not exclude each other.

/**
 * The kinds of locks. Most names contain the record's id. The exceptions: the name of a NIC tag, the tenant's id for a
 * quota and for "image-uploads", the node's id for "claims", and the project's id for "webhooks".
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

/** Returns the lock of the object's project, or of its tenant if it has no project; null if it has neither. */
export function parentKey(
  of: { readonly tenant_id: string | null; readonly project_id: string | null },
): string | null {
  if (of.project_id !== null) return lockKey("project", of.project_id);
  return of.tenant_id === null ? null : lockKey("tenant", of.tenant_id);
}
