// Queries for port forwards.
import type { Kysely } from "kysely";
import type { PortForward } from "../../src/contract/port-forward.ts";
import type { Database } from "../../src/db/tables.ts";
import { type LabeledPage, reader } from "../record/reads.ts";
import { portForward } from "./transition.ts";

const COLUMNS = [
  "id",
  "tenant_id",
  "project_id",
  "vpc_id",
  "name",
  "description",
  "labels",
  "nat_gateway_id",
  "nic_id",
  "protocol",
  "public_port",
  "nic_port",
  "created_at",
] as const;

const portForwards = reader("port_forward", COLUMNS, portForward.view);

export const findPortForward = portForwards.find;

export type PortForwardQuery = LabeledPage & { readonly vpc_id: string };

/** Lists the port forwards of a VPC in the order of their creation. */
export function listPortForwards(db: Kysely<Database>, { vpc_id, ...at }: PortForwardQuery): Promise<PortForward[]> {
  return portForwards.page(db, { vpc_id }, at);
}
