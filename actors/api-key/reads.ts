// What is read of API keys without going through their mailbox.
import type { Kysely } from "kysely";
import type { ApiKeyView } from "../../src/contract/api-key.ts";
import type { Database } from "../../src/db/tables.ts";
import { toRfc3339 } from "../../src/pure/instant.ts";
import { apiKeyView } from "./transition.ts";

/** A user's own keys, oldest first. Never the secret. */
export async function listApiKeys(db: Kysely<Database>, user_id: string, rows: number): Promise<ApiKeyView[]> {
  const found = await db.selectFrom("api_key").leftJoin("api_key_use", "api_key_use.key_id", "api_key.id")
    .select(["id", "user_id", "description", "scope", "bound_to_cn", "created_at", "expires_at", "last_used_at"])
    .where("user_id", "=", user_id).orderBy("created_at").orderBy("id").limit(rows).execute();
  return found.map(({ last_used_at, ...row }) => ({
    ...apiKeyView({ ...row, state: "live", lookup: "", secret_sha256: "" }),
    last_used_at: last_used_at === null ? null : toRfc3339(last_used_at),
  }));
}
