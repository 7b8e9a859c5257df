// What is read of NAT gateways without going through their mailboxes.
import type { Kysely } from "kysely";
import type { NatGateway } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import type { IdPage } from "../../src/lib/ids/page-token.ts";
import { natGatewayView } from "./transition.ts";

type Db = Kysely<Database>;

const COLUMNS = [
  "id",
  "tenant_id",
  "project_id",
  "vpc_id",
  "name",
  "description",
  "family",
  "public_address",
  "desired_generation",
  "created_at",
  "updated_at",
] as const;

export type NatGatewayQuery = IdPage & { readonly vpc_id: string };

/** Those of a VPC, in the order of their ids, which is that of their creation. */
export async function listNatGateways(db: Db, { vpc_id, after, rows }: NatGatewayQuery): Promise<NatGateway[]> {
  const found = await db.selectFrom("nat_gateway").select(COLUMNS).where("vpc_id", "=", vpc_id)
    .$if(after !== undefined, (q) => q.where("id", ">", after!)).orderBy("id").limit(rows).execute();
  return found.map((row) => natGatewayView({ ...row, state: "live" }));
}

export async function findNatGateway(db: Db, id: string): Promise<NatGateway | undefined> {
  const row = await db.selectFrom("nat_gateway").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row && natGatewayView({ ...row, state: "live" });
}
