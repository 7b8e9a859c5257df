// Queries for floating IPs.
import type { Kysely } from "kysely";
import type { FloatingIp } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import { type LabeledPage, reader } from "../record/reads.ts";
import { floatingIpRowView } from "./view.ts";

const COLUMNS = [
  "id",
  "tenant_id",
  "project_id",
  "name",
  "description",
  "labels",
  "address",
  "family",
  "network_id",
  "external_nic_tag",
  "attached_to",
  "attached_instance_id",
  "hosted_cn",
  "created_at",
  "updated_at",
] as const;

const floatingIps = reader("floating_ip", COLUMNS, floatingIpRowView);

export const findFloatingIp = floatingIps.find;

export type FloatingIpQuery = LabeledPage & { readonly project_id: string };

/** Lists the floating IPs of a project in the order of their creation. */
export function listFloatingIps(
  db: Kysely<Database>,
  { project_id, ...at }: FloatingIpQuery,
): Promise<FloatingIp[]> {
  return floatingIps.page(db, { project_id }, at);
}

/** Finds the NIC that a public address is attached to; undefined for a detached address. */
export async function findNicOfAddress(db: Kysely<Database>, address: string): Promise<string | undefined> {
  const row = await db.selectFrom("floating_ip").select("attached_to").where("address", "=", address)
    .where("attached_to", "is not", null).executeTakeFirst();
  return row?.attached_to ?? undefined;
}
