// The locks of records, as a commit takes them: whoever adds something that belongs to a record shares its lock, whoever
// deletes the record, or must see all that belongs to it, holds it alone. Two spellings of one lock would exclude nobody.

/**
 * The kinds of records that are locked by their id. Of a NIC tag it is the name, of a quota the tenant; "claims" are those
 * of one node.
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

/** The name of a record's lock, for `lock()` of the engine. */
export function lockKey(kind: LockedKind, id: string): string {
  return `${kind}:${id}`;
}

/** Of the project or else the tenant that something is in; null for what is in neither. */
export function parentKey(
  of: { readonly tenant_id: string | null; readonly project_id: string | null },
): string | null {
  if (of.project_id !== null) return lockKey("project", of.project_id);
  return of.tenant_id === null ? null : lockKey("tenant", of.tenant_id);
}
