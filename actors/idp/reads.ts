// Queries for identity providers.
import type { Kysely } from "kysely";
import type { Idp } from "../../src/contract/identity.ts";
import type { Database } from "../../src/db/tables.ts";
import { idpView } from "./transition.ts";

/** Returns the identity provider of a tenant without its secret. */
export async function findIdp(db: Kysely<Database>, tenant_id: string): Promise<Idp | undefined> {
  const row = await db.selectFrom("tenant_idp")
    .select(["tenant_id", "issuer_url", "client_id", "audience", "created_at"])
    .where("tenant_id", "=", tenant_id).executeTakeFirst();
  return row && idpView(row);
}
