// An SSH key that instances let in. Nothing about it changes: a new key is another record.
import { conflict, NOT_FOUND } from "../../src/contract/fault.ts";
import type { ScopeColumns } from "../../src/contract/scope.ts";
import type { SshKey } from "../../src/contract/ssh-key.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { parentKey } from "../../src/lib/ids/lock-key.ts";
import { nameFault } from "../../src/lib/text/resource-name.ts";
import { scopeOf } from "../../src/lib/ids/scope.ts";
import { audit, go, lock, refuse } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Condition, Out } from "../engine/types.ts";

type SshKeyColumns = ScopeColumns & {
  /** Derived from the scope and the fingerprint, so that a scope has a key once. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly public_key: string;
  readonly fingerprint: string;
};

export type SshKeyMessage = ({ readonly type: "create" } & SshKeyColumns) | { readonly type: "delete" };

export type SshKeyState = SshKeyColumns & { readonly state: "live"; readonly created_at: Date };

type Live = At<SshKeyState, "live">;

export const sshKeyTable: Table<SshKeyState, SshKeyMessage> = {
  create: { absent: create, live: clash },
  delete: { absent: "missing", live: remove },
};

function create(_s: null, m: Of<SshKeyMessage, "create">, now: Date): Out<SshKeyState> {
  const { type: _type, ...columns } = m;
  const { id, name, fingerprint } = columns;
  const broken = nameFault(name);
  if (broken !== null) return refuse(broken);
  return go(
    { ...columns, state: "live", created_at: now },
    ...parentLocks(m),
    audit("ssh_key_create", resource(id), { ...scopeNote(m), name, fingerprint }),
  );
}

function clash({ fingerprint, name }: Live): Out<SshKeyState> {
  return refuse(conflict(`an ssh key with fingerprint ${fingerprint} already exists in this scope: ${name}`));
}

function remove(s: Live): Out<SshKeyState> {
  const { id, name, fingerprint } = s;
  return go<SshKeyState>(null, audit("ssh_key_delete", resource(id), { ...scopeNote(s), name, fingerprint }));
}

/** Whoever deletes a project or a tenant sees what is in it. */
function parentLocks(columns: SshKeyColumns): Condition[] {
  const key = parentKey(columns);
  return key === null ? [] : [lock(key, true)];
}

function scopeNote(columns: SshKeyColumns) {
  const { silo_id, tenant_id, project_id } = columns;
  return { scope: scopeOf(columns), silo_id, tenant_id, project_id };
}

function resource(id: string): string {
  return `SshKey::"${id}"`;
}

export function sshKeyView(s: SshKeyState): SshKey {
  const { id, name, description, public_key, fingerprint } = s;
  return { id, scope: scopeOf(s), name, description, public_key, fingerprint, created_at: toRfc3339(s.created_at) };
}

export const sshKey: Behavior<SshKeyState, SshKeyMessage> = {
  kind: "ssh-key",
  table: "ssh_key",
  key: "id",
  step: (s, m, now) => runTable(sshKeyTable, s, m, now),
  deadline: () => null,
  view: sshKeyView,
  constraints: {
    ssh_key_name: conflict("an ssh key named <name> already exists in this scope"),
    ssh_key_fingerprint: conflict("an ssh key with fingerprint <fingerprint> already exists in this scope"),
    ssh_key_silo_fkey: NOT_FOUND,
    ssh_key_tenant_fkey: NOT_FOUND,
    ssh_key_project_fkey: NOT_FOUND,
    ssh_key_user_fkey: NOT_FOUND,
  },
};
