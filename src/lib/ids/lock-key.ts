// Names of the locks that a commit takes on records. A commit that adds a child of a record takes its lock shared; a commit
// that deletes the record, or must see all its children, takes it exclusively. Two names for one lock would not exclude
// each other, so all names come from here.

/**
 * The kinds of records that are locked by their id. A NIC tag is locked by its name, a quota by its tenant, "claims" by
 * their node.
 */
export type LockedKind =
  | "claims"
  | "cn"
  | "external-subnet"
  | "image"
  | "nic-tag"
  | "project"
  | "quota"
  | "tenant"
  | "vpc";

/** Returns the name of a record's lock, for `lock()` of the engine. */
export function lockKey(kind: LockedKind, id: string): string {
  return `${kind}:${id}`;
}

/** Returns the lock of the project or otherwise the tenant that has the object; null without either. */
export function parentKey(
  of: { readonly tenant_id: string | null; readonly project_id: string | null },
): string | null {
  if (of.project_id !== null) return lockKey("project", of.project_id);
  return of.tenant_id === null ? null : lockKey("tenant", of.tenant_id);
}
