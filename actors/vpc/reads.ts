// Queries for VPCs.
import type { Kysely } from "kysely";
import type { Vpc } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import { type LabeledPage, reader } from "../record/reads.ts";
import { vpc } from "./transition.ts";

const COLUMNS = [
  "id",
  "tenant_id",
  "project_id",
  "main_route_table_id",
  "name",
  "description",
  "labels",
  "vni",
  "ipv4_block",
  "ipv6_block",
  "created_at",
] as const;

const vpcs = reader("vpc", COLUMNS, vpc.view);

export const findVpc = vpcs.find;

export type VpcQuery = LabeledPage & { readonly project_id: string };

/** Lists the VPCs of a project in the order of their creation. */
export function listVpcs(db: Kysely<Database>, { project_id, ...at }: VpcQuery): Promise<Vpc[]> {
  return vpcs.page(db, { project_id }, at);
}
