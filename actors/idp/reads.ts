// Queries for identity providers.
import type { Kysely } from "kysely";
import type { Idp } from "../../src/contract/identity.ts";
import type { Database } from "../../src/db/tables.ts";
import { idpView } from "./transition.ts";

/** Returns the client of a tenant's identity provider, with its sealed secret. */
export async function findIdpClient(db: Kysely<Database>, tenant_id: string) {
  return await db.selectFrom("tenant_idp").select(["issuer_url", "client_id", "client_secret"])
    .where("tenant_id", "=", tenant_id).executeTakeFirst();
}

/** Returns the identity provider of a tenant without its secret. */
export async function findIdp(db: Kysely<Database>, tenant_id: string): Promise<Idp | undefined> {
  const row = await db.selectFrom("tenant_idp")
    .select(["tenant_id", "issuer_url", "client_id", "audience", "created_at"])
    .where("tenant_id", "=", tenant_id).executeTakeFirst();
  return row && idpView(row);
}
