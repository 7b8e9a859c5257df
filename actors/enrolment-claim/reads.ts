// Queries on enrolment claims.
import { type Kysely, sql } from "kysely";
import type { Database, EnrolmentClaimRow } from "../../src/db/tables.ts";

type Db = Kysely<Database>;

/** The columns that an approval copies from a claim. */
export type FoundClaim = Omit<
  EnrolmentClaimRow,
  "state" | "claim_code" | "expires_at" | "source" | "source_bucket" | "created_at"
>;

/**
 * Finds the live claim with this code. Unknown, expired and used codes give the same result in the same time.
 */
export async function findClaimByCode(db: Db, code: string): Promise<FoundClaim | undefined> {
  // Reads the clock even if the claim does not exist: the duration of the query must not reveal whether it exists.
  return await db.selectFrom(sql<{ now: Date }>`(select berth_now() as now)`.as("clock"))
    .innerJoin("enrolment_claim", (join) => join.onRef("expires_at", ">", "clock.now"))
    .select([
      "id",
      "server_uuid",
      "registration_id",
      "poll_token_sha256",
      "hostname",
      "admin_ip",
      "sysinfo",
      "macs",
      "serial",
      "console_listen_port",
      "console_tls_spki_sha256_hex",
      "underlay_address",
      "underlay_mtu",
    ])
    .where("claim_code", "=", code).executeTakeFirst();
}

/** Finds the id of the live claim of this node with this token. */
export async function findClaimByToken(db: Db, server_uuid: string, hash: string): Promise<string | undefined> {
  const row = await db.selectFrom("enrolment_claim").select("id").where("poll_token_sha256", "=", hash)
    .where("server_uuid", "=", server_uuid).where("expires_at", ">", sql<Date>`(select berth_now())`)
    .executeTakeFirst();
  return row?.id;
}

/** Returns the seconds, at least 1, until the first claim of a node, of a source or of the site expires. */
export async function firstExpiryIn(
  db: Db,
  of: { readonly server_uuid?: string; readonly source_bucket?: string },
): Promise<number> {
  const { server_uuid, source_bucket } = of;
  const row = await db.selectFrom("enrolment_claim")
    .select(sql<number | null>`ceil(extract(epoch from min(expires_at) - (select berth_now())))::int`.as("seconds"))
    .$if(server_uuid !== undefined, (q) => q.where("server_uuid", "=", server_uuid!))
    .$if(source_bucket !== undefined, (q) => q.where("source_bucket", "=", source_bucket!))
    .where("expires_at", ">", sql<Date>`(select berth_now())`).executeTakeFirst();
  return Math.max(1, row?.seconds ?? 1);
}
