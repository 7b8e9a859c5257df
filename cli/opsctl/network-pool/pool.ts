// Defines how commands list, find and print network pools.
import type { ExternalSubnet, NetworkPool } from "../../../src/contract/external-network.ts";
import type { Io } from "../../internal/io.ts";
import { AGE_COLUMN, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { EXTERNAL_SUBNETS_PATH } from "../external-subnet/subnet.ts";
import { findRecord, named, titleOf } from "../../internal/record-name.ts";
import type { Kind } from "../record/kind.ts";

export const POOLS_PATH = "/v1/system/network-pools";

type NameOf = (network_id: string) => string;
/** A pool with the names of its external subnets. */
type PoolRow = { readonly pool: NetworkPool; readonly networks: string };

async function findPool(io: Io, name: string): Promise<NetworkPool> {
  return await findRecord(io, name, {
    path: POOLS_PATH,
    kind: named<NetworkPool>("network pool", "opsctl network-pool list"),
  });
}

/** Returns a function that finds the name of an external subnet by its id. For a deleted subnet it returns the id. */
async function networkNames(io: Io): Promise<NameOf> {
  const subnets = await io.all<ExternalSubnet>(EXTERNAL_SUBNETS_PATH);
  const names = new Map(subnets.map(({ id, name }) => [id, name]));
  return (id) => names.get(id) ?? id;
}

function withNames(pool: NetworkPool, nameOf: NameOf): PoolRow {
  return { pool, networks: pool.networks.map(nameOf).join(",") };
}

export const NETWORK_POOL: Kind<PoolRow> = {
  one: "network pool",
  many: "network pools",
  argument: ["<network-pool>", "UUID, unique UUID prefix or name"],
  sample: "public",
  summaries: { list: "List network pools", delete: "Delete a network pool; its external subnets stay" },
  columns: [
    ["NAME", ({ pool }) => pool.name],
    ["ID", ({ pool }) => pool.id, ID_COLUMN],
    ["NETWORKS", ({ networks }) => networks],
    ["OWNER_SILOS", ({ pool }) => pool.owner_silos.length === 0 ? "(all)" : pool.owner_silos.length],
    ["AGE", ({ pool }) => pool.created_at, AGE_COLUMN],
    ["CREATED_AT", ({ pool }) => pool.created_at, WIDE_COLUMN],
    ["DESCRIPTION", ({ pool }) => pool.description],
  ],
  lines: ({ pool, networks }) => [
    ["id", pool.id],
    ["name", pool.name],
    ["description", pool.description],
    ["networks", networks],
    ["owner_silos", pool.owner_silos.length === 0 ? "(all)" : pool.owner_silos.join(",")],
    ["created_at", pool.created_at],
  ],
  all: async (io) => {
    const [pools, nameOf] = await Promise.all([io.all<NetworkPool>(POOLS_PATH), networkNames(io)]);
    return pools.map((pool) => withNames(pool, nameOf));
  },
  find: async (io, name) => withNames(...await Promise.all([findPool(io, name), networkNames(io)])),
  record: ({ pool }) => pool,
  path: ({ pool }) => `${POOLS_PATH}/${pool.id}`,
  title: ({ pool }) => titleOf(pool),
};
