// Scopes in their wire form, and the ids that are derived from them.
import type { ImageScopeKind, ScopeKind } from "../../contract/enums.ts";
import type { ImageScope, ScopeColumns, SshKeyScope } from "../../contract/scope.ts";
import { uuid5 } from "./uuid5.ts";

/** A random constant: the namespace of ids that are derived from a scope. */
const NAMESPACE = "cab0daed-bc28-4aa8-8b16-a210148db485";

/** Returns the wire form. Throws when the kind's column is null, which the table's check constraint excludes. */
export function scopeOf(columns: ScopeColumns<ImageScopeKind>): ImageScope;
export function scopeOf(columns: ScopeColumns): SshKeyScope;
export function scopeOf({ scope_kind, silo_id, tenant_id, project_id, user_id }: ScopeColumns): SshKeyScope {
  switch (scope_kind) {
    case "public":
      return { kind: "public" };
    case "silo":
      return { kind: "silo", silo_id: given(silo_id) };
    case "tenant":
      return { kind: "tenant", tenant_id: given(tenant_id) };
    case "project":
      return { kind: "project", project_id: given(project_id) };
    case "user":
      return { kind: "user", user_id: given(user_id) };
  }
}

/** Returns the columns that have a value in the scope; all objects in the scope share them. */
export function scopeFilter<Columns extends Partial<ScopeColumns>>(columns: Columns) {
  const set = Object.entries(columns).filter(([, value]) => value !== null);
  return Object.fromEntries(set) as { [Name in keyof Columns]?: NonNullable<Columns[Name]> };
}

/**
 * Returns the id of an object with these bytes in a scope: the UUIDv5 of scope tag, scope id and digest.
 * @param digest identifies the bytes: the hash of an image, the fingerprint of a key
 */
export function scopedId(columns: ScopeColumns, digest: string): string {
  const { scope_kind, silo_id, tenant_id, project_id, user_id } = columns;
  // A user's keys that were created with a tenant's credential differ from the user's own and from other tenants'.
  const through = scope_kind === "user" && tenant_id !== null ? `@${tenant_id}` : "";
  const id = { public: "", silo: silo_id, tenant: tenant_id, project: project_id, user: user_id } satisfies Record<
    ScopeKind,
    string | null
  >;
  return uuid5(NAMESPACE, `${scope_kind}:${id[scope_kind] ?? ""}${through}:${digest}`);
}

function given(id: string | null): string {
  if (id === null) throw new Error("a scope without the id of its kind");
  return id;
}
