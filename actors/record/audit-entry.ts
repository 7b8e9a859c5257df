// The audit entry of a record's change. It never holds a secret. The entry of a tenant's record also names the tenant
// and the project. The tenant's audit log and the project's webhooks find the entry by these ids, even after the record
// is deleted.
import type { AuditAction } from "../../src/contract/audit-actions.ts";
import { audit } from "../engine/effects.ts";
import type { AuditNote, Json } from "../engine/types.ts";

/** The action of an audit entry. `note` lists the columns that the entry shows, or returns its payload. */
export type AuditEntry<S, M> = {
  readonly action: AuditAction;
  readonly note: readonly (keyof S & string)[] | ((row: S, message: M) => Json);
};

/** Returns the function that makes the audit entries of one resource type, such as `NicTag`. */
export function auditEntry(resource: string) {
  return <S extends { readonly id: string }, M>({ action, note }: AuditEntry<S, M>, row: S, message: M): AuditNote => {
    const payload = typeof note === "function" ? note(row, message) : pick(row, note);
    return audit(action, `${resource}::"${row.id}"`, { ...ownerOf(row), ...payload as object });
  };
}

function pick<S>(row: S, columns: readonly (keyof S)[]): Partial<S> {
  return Object.fromEntries(columns.map((column) => [column, row[column]])) as Partial<S>;
}

function ownerOf(row: object) {
  const { tenant_id, project_id } = row as { readonly tenant_id?: string | null; readonly project_id?: string | null };
  return { ...(tenant_id != null && { tenant_id }), ...(project_id != null && { project_id }) };
}
