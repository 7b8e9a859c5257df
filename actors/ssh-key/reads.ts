// Queries for SSH keys.
import type { Kysely } from "kysely";
import type { ScopeColumns } from "../../src/contract/scope.ts";
import type { SshKey } from "../../src/contract/ssh-key.ts";
import type { Database } from "../../src/db/tables.ts";
import { scopeFilter } from "../../src/lib/ids/scope.ts";
import { type LabeledPage, type LabeledRows, reader } from "../record/reads.ts";
import { sshKey } from "./transition.ts";

type Db = Kysely<Database>;

const SCOPE = ["scope_kind", "silo_id", "tenant_id", "project_id", "user_id"] as const;
const COLUMNS = ["id", ...SCOPE, "name", "description", "labels", "public_key", "fingerprint", "created_at"] as const;

const sshKeys = reader("ssh_key", COLUMNS, sshKey.view);

export const findSshKey = sshKeys.find;

/** Lists the public SSH keys in the order of their ids. */
export function listPublicSshKeys(db: Db, at: LabeledPage): Promise<SshKey[]> {
  return sshKeys.page(db, { scope_kind: "public" }, at);
}

/**
 * Lists the SSH keys of one scope, oldest first. Without a tenant_id, the scope of a user includes the SSH keys that
 * the user created with an API key of a tenant.
 */
export function listSshKeys(db: Db, scope: ScopeColumns, at: LabeledRows): Promise<SshKey[]> {
  return sshKeys.oldestFirst(db, scopeFilter(scope), at);
}

/**
 * Returns the scopes of the keys that an instance shall accept. `lives_in` is the silo to which the key belongs, or
 * null.
 */
export async function findSshKeysToUse(db: Db, ids: readonly string[]) {
  if (ids.length === 0) return [];
  const columns = ["k.id", "k.scope_kind", "k.silo_id", "k.tenant_id", "k.project_id", "k.user_id"] as const;
  return await db.selectFrom("ssh_key as k").leftJoin("tenant as t", "t.id", "k.tenant_id")
    .leftJoin("user_account as u", "u.id", "k.user_id").leftJoin("tenant as h", "h.id", "u.tenant_id")
    .select(columns).select((eb) => eb.fn.coalesce("k.silo_id", "t.silo_id", "h.silo_id").as("lives_in"))
    .where("k.id", "in", ids).execute();
}
