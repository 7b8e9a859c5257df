// Queries for NAT gateways.
import type { Kysely } from "kysely";
import type { NatGateway } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import { type LabeledPage, reader } from "../record/reads.ts";
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
  "desired_generation",
  "host_cn_uuid",
  "leaving_cn_uuid",
  "left_at",
  "created_at",
  "updated_at",
] as const;

const natGateways = reader("nat_gateway", COLUMNS, natGateway.view);

export const findNatGateway = natGateways.find;

export type NatGatewayQuery = LabeledPage & { readonly vpc_id: string };

/** Lists the NAT gateways of a VPC in the order of their creation. */
export function listNatGateways(db: Kysely<Database>, { vpc_id, ...at }: NatGatewayQuery): Promise<NatGateway[]> {
  return natGateways.page(db, { vpc_id }, at);
}
