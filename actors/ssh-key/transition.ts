// An SSH key that instances accept. The key itself never changes: a new key is another record.
import { conflict, NOT_FOUND } from "../../src/contract/fault.ts";
import type { ScopeColumns } from "../../src/contract/scope.ts";
import type { SshKey } from "../../src/contract/ssh-key.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { parentKey } from "../../src/lib/ids/lock-key.ts";
import { scopeOf } from "../../src/lib/ids/scope.ts";
import type { Named } from "../../src/lib/text/resource-name.ts";
import { type Create, type Delete, record, type RecordState, type Update } from "../record/record.ts";

type Columns = ScopeColumns & Named & {
  /** Derived from the scope and the fingerprint, so that a scope holds a key at most once. */
  readonly id: string;
  readonly public_key: string;
  readonly fingerprint: string;
};

export type SshKeyMessage = Create<Columns> | Update | Delete;

export type SshKeyState = RecordState<Columns>;

export const sshKey = record<SshKeyState, SshKeyMessage, SshKey>({
  kind: "ssh-key",
  table: "ssh_key",
  noun: "ssh key",
  resource: "SshKey",
  parent: parentKey,
  create: {
    action: "ssh_key_create",
    note: noted,
    clash: ({ fingerprint, name }) =>
      conflict(`an ssh key with fingerprint ${fingerprint} already exists in this scope: ${name}`),
  },
  update: { action: "ssh_key_update", note: noted },
  delete: { action: "ssh_key_delete", note: noted },
  has_labels: true,
  view: (row) => {
    const { id, name, description, labels = {}, public_key, fingerprint } = row;
    return {
      id,
      scope: scopeOf(row),
      name,
      description,
      labels,
      public_key,
      fingerprint,
      created_at: toRfc3339(row.created_at),
    };
  },
  constraints: {
    ssh_key_name: conflict("an ssh key named <name> already exists in this scope"),
    ssh_key_fingerprint: conflict("an ssh key with fingerprint <fingerprint> already exists in this scope"),
    ssh_key_silo_fkey: NOT_FOUND,
    ssh_key_tenant_fkey: NOT_FOUND,
    ssh_key_project_fkey: NOT_FOUND,
    ssh_key_user_fkey: NOT_FOUND,
  },
});

function noted(row: SshKeyState) {
  const { silo_id, tenant_id, project_id, name, fingerprint } = row;
  return { scope: scopeOf(row), silo_id, tenant_id, project_id, name, fingerprint };
}
