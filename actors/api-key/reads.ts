// Queries for API keys.
import type { Kysely } from "kysely";
import type { ApiKeyView } from "../../src/contract/api-key.ts";
import type { Database } from "../../src/db/tables.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { apiKeyView } from "./transition.ts";

/** Selects keys by their user, by the tenant that they are bound to, and by whether they are bound to a node. */
export type KeyFilter = { readonly user_id?: string; readonly tenant_id?: string; readonly of_nodes?: boolean };

/** Lists keys without their secrets, oldest first. */
export async function listApiKeys(db: Kysely<Database>, filter: KeyFilter, rows: number): Promise<ApiKeyView[]> {
  const { user_id, tenant_id, of_nodes } = filter;
  const found = await db.selectFrom("api_key").leftJoin("api_key_use", "api_key_use.key_id", "api_key.id")
    .select(["id", "user_id", "description", "scope", "bound_to_cn", "tenant_id", "created_at", "expires_at"])
    .select("last_used_at")
    .$if(user_id !== undefined, (query) => query.where("user_id", "=", user_id!))
    .$if(tenant_id !== undefined, (query) => query.where("tenant_id", "=", tenant_id!))
    .$if(of_nodes !== undefined, (query) => query.where("bound_to_cn", of_nodes ? "is not" : "is", null))
    .orderBy("created_at").orderBy("id").limit(rows).execute();
  return found.map(({ last_used_at, ...row }) => ({
    ...apiKeyView({ ...row, state: "live", lookup: "", secret_sha256: "" }),
    last_used_at: last_used_at === null ? null : toRfc3339(last_used_at),
  }));
}
