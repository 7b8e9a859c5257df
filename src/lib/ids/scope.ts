// Converts scopes to the form in which the API shows them, and derives ids from scopes.
import type { ImageScopeKind, ScopeKind } from "../../contract/enums.ts";
import type { ImageScope, ScopeColumns, SshKeyScope } from "../../contract/scope.ts";
import { uuid5 } from "./uuid5.ts";

/** The UUIDv5 namespace of ids that are derived from a scope; a random constant. */
const NAMESPACE = "cab0daed-bc28-4aa8-8b16-a210148db485";

/**
 * Returns the scope's wire form. Throws if the id column of the scope's kind is null, which the table's check
 * constraint prevents.
 */
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

/** Returns the scope columns that are not null. All objects in the scope have the same values in these columns. */
export function scopeFilter<Columns extends Partial<ScopeColumns>>(columns: Columns) {
  const set = Object.entries(columns).filter(([, value]) => value !== null);
  return Object.fromEntries(set) as { [Name in keyof Columns]?: NonNullable<Columns[Name]> };
}

/**
 * Returns the id of an image or an SSH key in a scope: the UUIDv5 of the scope's kind, the scope's id and the digest.
 * @param digest - The hash of the image, or the fingerprint of the key.
 */
export function scopedId(columns: ScopeColumns, digest: string): string {
  const { scope_kind, silo_id, tenant_id, project_id, user_id } = columns;
  // The id of a user's key also depends on the tenant of the credential that created the key. So a user can create the
  // same key several times: once with a credential of each tenant, and once with a credential without a tenant.
  const through = scope_kind === "user" && tenant_id !== null ? `@${tenant_id}` : "";
  const id = { public: "", silo: silo_id, tenant: tenant_id, project: project_id, user: user_id } satisfies Record<
    ScopeKind,
    string | null
  >;
  return uuid5(NAMESPACE, `${scope_kind}:${id[scope_kind] ?? ""}${through}:${digest}`);
}

function given(id: string | null): string {
  if (id === null) throw new Error("the scope lacks the id that its kind requires");
  return id;
}
