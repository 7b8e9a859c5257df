// Queries for users.
import { type Kysely, sql } from "kysely";
import type { User } from "../../src/contract/identity.ts";
import type { Database } from "../../src/db/tables.ts";
import { userView } from "./transition.ts";

type Db = Kysely<Database>;

const COLUMNS = [
  "id",
  "username",
  "is_root",
  "tenant_id",
  "silo_id",
  "capabilities",
  "issuer",
  "created_at",
] as const;

export type UserQuery = {
  /** A part of the name or the UUID. */
  readonly q: string | undefined;
  /** The tenant whose users are listed. */
  readonly tenant: string | undefined;
  /** The last user of the previous page. */
  readonly after: { readonly created_at: string; readonly id: string } | undefined;
  readonly rows: number;
};

/** Lists users, oldest first. */
export async function listUsers(db: Db, { q: text, tenant, after, rows }: UserQuery): Promise<User[]> {
  const like = text === undefined ? undefined : `%${text.toLowerCase().replace(/[\\%_]/g, "\\$&")}%`;
  const found = await db.selectFrom("user_loaded").select(COLUMNS)
    .$if(like !== undefined, (q) => q.where(sql<boolean>`(lower(username) like ${like} or id::text like ${like})`))
    .$if(tenant !== undefined, (q) => q.where("tenant_id", "=", tenant!))
    .$if(
      after !== undefined,
      (q) => q.where(sql<boolean>`(created_at, id) > (${after!.created_at}::timestamptz, ${after!.id}::uuid)`),
    )
    .orderBy("created_at").orderBy("id").limit(rows).execute();
  return found.map(userView);
}

export async function findUser(db: Db, id: string): Promise<User | undefined> {
  const row = await db.selectFrom("user_loaded").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row && userView(row);
}

/** Returns a local user with the hash of the password. */
export async function findLocalUser(db: Db, by: "username" | "id", value: string) {
  return await db.selectFrom("user_loaded").select([...COLUMNS, "password_hash", "session_epoch"])
    .where("issuer", "is", null).where(by, "=", value).executeTakeFirst();
}
export type LocalUser = NonNullable<Awaited<ReturnType<typeof findLocalUser>>>;

/** Returns the epoch of a user's sessions; undefined for an unknown user. Each new password increases the epoch. */
export async function findSessionEpoch(db: Db, id: string): Promise<number | undefined> {
  const row = await db.selectFrom("user_account").select("session_epoch").where("id", "=", id).executeTakeFirst();
  return row?.session_epoch;
}
