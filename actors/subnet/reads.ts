// Queries for subnets.
import type { Kysely } from "kysely";
import type { Subnet } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import { type LabeledPage, reader } from "../record/reads.ts";
import { subnet } from "./transition.ts";

const COLUMNS = [
  "id",
  "tenant_id",
  "project_id",
  "vpc_id",
  "route_table_id",
  "name",
  "description",
  "labels",
  "ipv4_block",
  "ipv6_block",
  "vpc_ipv4_block",
  "vpc_ipv6_block",
  "created_at",
] as const;

const subnets = reader("subnet", COLUMNS, subnet.view);

export const findSubnet = subnets.find;

export type SubnetQuery = LabeledPage & { readonly vpc_id: string };

/** Lists the subnets of a VPC in the order of their creation. */
export function listSubnets(db: Kysely<Database>, { vpc_id, ...at }: SubnetQuery): Promise<Subnet[]> {
  return subnets.page(db, { vpc_id }, at);
}
