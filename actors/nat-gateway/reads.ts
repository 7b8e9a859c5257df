// Queries for NAT gateways.
import { type Kysely, sql } from "kysely";
import type { NatGateway } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { finder, type LabeledPage, reader } from "../record/reads.ts";
import { natGateway } from "./transition.ts";

const COLUMNS = [
  "id",
  "tenant_id",
  "project_id",
  "vpc_id",
  "name",
  "description",
  "labels",
  "family",
  "public_address",
  "network_id",
  "external_nic_tag",
  "pool_id",
  "desired_generation",
  "host_cn_uuid",
  "leaving_cn_uuid",
  "left_at",
  "created_at",
  "updated_at",
] as const;

const natGateways = reader("nat_gateway", COLUMNS, natGateway.view);

/** Finds NAT gateways with their counters. */
export const findNatGateway = finder<NatGateway>(async (db, ids) => {
  const found = await natGateways.find.many(db, ids);
  return new Map((await addCounts(db, [...found.values()])).map((gateway) => [gateway.id, gateway]));
});

export type NatGatewayQuery = LabeledPage & { readonly vpc_id: string };

/** Lists the NAT gateways of a VPC in the order of their creation, with their counters. */
export async function listNatGateways(
  db: Kysely<Database>,
  { vpc_id, ...at }: NatGatewayQuery,
): Promise<NatGateway[]> {
  return await addCounts(db, await natGateways.page(db, { vpc_id }, at));
}

type CountRow = { readonly nat_gateway_id: string; readonly connections: number; readonly counted_at: Date };

/** The numbers in reports have no upper limit, so their sum may be too large for a JavaScript number. */
const COUNT_MAX = Number.MAX_SAFE_INTEGER;

async function addCounts(db: Kysely<Database>, gateways: readonly NatGateway[]): Promise<NatGateway[]> {
  if (gateways.length === 0) return [];
  const { rows } = await sql<CountRow>`
    select nat_gateway_id, least(sum(connections), ${COUNT_MAX})::bigint as connections, max(counted_at) as counted_at
      from nat_gateway_count where nat_gateway_id = any(${gateways.map(({ id }) => id)}) group by nat_gateway_id`
    .execute(db);
  const by_gateway = new Map(rows.map(({ nat_gateway_id, connections, counted_at }) => [
    nat_gateway_id,
    { connections, counted_at: toRfc3339(counted_at) },
  ]));
  return gateways.map((gateway) => ({ ...gateway, counts: by_gateway.get(gateway.id) ?? null }));
}
