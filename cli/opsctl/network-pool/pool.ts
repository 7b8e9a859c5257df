// Shared by the network pool verbs: finding and printing a pool.
import type { ExternalSubnet, NetworkPool } from "../../../src/contract/external-network.ts";
import type { Io } from "../../internal/io.ts";
import { blockText } from "../../internal/table.ts";
import { EXTERNAL_SUBNETS_PATH } from "../external-subnet/subnet.ts";
import { findRecord, named } from "../../internal/record-name.ts";

export const POOLS_PATH = "/v1/system/network-pools";
export const POOL_ARGUMENT = ["<network-pool>", "UUID, unique UUID prefix or name"] as const;

export type NameOf = (network_id: string) => string;

export async function findPool(io: Io, name: string): Promise<NetworkPool> {
  return await findRecord(io, name, {
    path: POOLS_PATH,
    kind: named<NetworkPool>("network pool", "opsctl network-pool list"),
  });
}

/** Returns a function that finds the name of an external subnet by its id. For a deleted subnet it returns the id. */
export async function networkNames(io: Io): Promise<NameOf> {
  const subnets = await io.all<ExternalSubnet>(EXTERNAL_SUBNETS_PATH);
  const names = new Map(subnets.map(({ id, name }) => [id, name]));
  return (id) => names.get(id) ?? id;
}

export function poolText(pool: NetworkPool, nameOf: NameOf): string {
  return blockText([
    ["id", pool.id],
    ["name", pool.name],
    ["description", pool.description],
    ["networks", pool.networks.map(nameOf).join(",")],
    ["owner_silos", pool.owner_silos.length === 0 ? "(all)" : pool.owner_silos.join(",")],
    ["created_at", pool.created_at],
  ]);
}
