// What is read of SSH keys without going through their mailboxes.
import type { Kysely } from "kysely";
import type { ScopeColumns } from "../../src/contract/scope.ts";
import type { SshKey } from "../../src/contract/ssh-key.ts";
import type { Database } from "../../src/db/tables.ts";
import type { IdPage } from "../../src/lib/ids/page-token.ts";
import { scopeFilter } from "../../src/lib/ids/scope.ts";
import { sshKeyView } from "./transition.ts";

type Db = Kysely<Database>;

const COLUMNS = [
  "id",
  "scope_kind",
  "silo_id",
  "tenant_id",
  "project_id",
  "user_id",
  "name",
  "description",
  "public_key",
  "fingerprint",
  "created_at",
] as const;

/** The public ones, in the order of their ids. */
export async function listPublicSshKeys(
  db: Db,
  { after, rows }: IdPage,
): Promise<SshKey[]> {
  const found = await db.selectFrom("ssh_key").select(COLUMNS).where("scope_kind", "=", "public")
    .$if(after !== undefined, (q) => q.where("id", ">", after!)).orderBy("id").limit(rows).execute();
  return found.map((row) => sshKeyView({ ...row, state: "live" }));
}

/** Those of one scope, oldest first. Without a tenant, a user's are all that the user has, whatever made them. */
export async function listSshKeys(db: Db, scope: ScopeColumns, rows: number): Promise<SshKey[]> {
  const found = await db.selectFrom("ssh_key").select(COLUMNS)
    .where((eb) => eb.and(scopeFilter(scope)))
    .orderBy("created_at").orderBy("id").limit(rows).execute();
  return found.map((row) => sshKeyView({ ...row, state: "live" }));
}

/** Keys that an instance is to let in: whom each is for, and the silo it lives in; null where it lives in none. */
export async function findSshKeysToUse(db: Db, ids: readonly string[]) {
  if (ids.length === 0) return [];
  const columns = ["k.id", "k.scope_kind", "k.silo_id", "k.tenant_id", "k.project_id", "k.user_id"] as const;
  return await db.selectFrom("ssh_key as k").leftJoin("tenant as t", "t.id", "k.tenant_id")
    .leftJoin("user_account as u", "u.id", "k.user_id").leftJoin("tenant as h", "h.id", "u.tenant_id")
    .select(columns).select((eb) => eb.fn.coalesce("k.silo_id", "t.silo_id", "h.silo_id").as("lives_in"))
    .where("k.id", "in", ids).execute();
}

export async function findSshKey(db: Db, id: string): Promise<SshKey | undefined> {
  const row = await db.selectFrom("ssh_key").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row && sshKeyView({ ...row, state: "live" });
}
