// Queries for API keys.
import { type Kysely, sql } from "kysely";
import type { ApiKeyView } from "../../src/contract/api-key.ts";
import type { Database } from "../../src/db/tables.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { apiKeyView } from "./transition.ts";

/**
 * Selects keys by their user, by the tenant that they are bound to, by whether they are bound to a node, and by the
 * first characters of their ids.
 */
export type KeyFilter = {
  readonly user_id?: string;
  readonly tenant_id?: string;
  readonly of_nodes?: boolean;
  readonly id_prefix?: string;
};

const FIRST_ID = "00000000-0000-0000-0000-000000000000";
const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Lists the ids of keys that expired at least `kept_s` seconds ago, oldest expiry first. Leaves out keys of nodes. */
export async function listExpiredKeys(db: Kysely<Database>, kept_s: number, rows: number): Promise<string[]> {
  const found = await db.selectFrom("api_key").select("id")
    .where(sql<boolean>`expires_at <= (select berth_now()) - make_interval(secs => ${kept_s})`)
    .where("bound_to_cn", "is", null)
    .orderBy("expires_at").orderBy("id").limit(rows).execute();
  return found.map(({ id }) => id);
}

/** Lists keys without their secrets, oldest first. */
export async function listApiKeys(db: Kysely<Database>, filter: KeyFilter, rows: number): Promise<ApiKeyView[]> {
  const { user_id, tenant_id, of_nodes, id_prefix = "" } = filter;
  const found = await db.selectFrom("api_key").leftJoin("api_key_use", "api_key_use.key_id", "api_key.id")
    .select(["id", "user_id", "description", "scope", "bound_to_cn", "tenant_id", "created_at", "expires_at"])
    .select("last_used_at")
    .$if(user_id !== undefined, (query) => query.where("user_id", "=", user_id!))
    .$if(tenant_id !== undefined, (query) => query.where("tenant_id", "=", tenant_id!))
    .$if(of_nodes !== undefined, (query) => query.where("bound_to_cn", of_nodes ? "is not" : "is", null))
    .$if(id_prefix !== "", (query) =>
      query.where("id", ">=", id_prefix + FIRST_ID.slice(id_prefix.length))
        .where("id", "<=", id_prefix + LAST_ID.slice(id_prefix.length)))
    .orderBy("created_at").orderBy("id").limit(rows).execute();
  return found.map(({ last_used_at, ...row }) => ({
    ...apiKeyView({ ...row, state: "live", lookup: "", secret_sha256: "" }),
    last_used_at: last_used_at === null ? null : toRfc3339(last_used_at),
  }));
}
