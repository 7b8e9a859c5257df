import type { NetworkPool } from "../../../src/contract/external-network.ts";
import { type AnyCommand, listCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { AGE_COLUMN, type Column, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { type NameOf, networkNames, POOLS_PATH } from "./pool.ts";

const columns = (nameOf: NameOf): readonly Column<NetworkPool>[] => [
  ["NAME", (pool) => pool.name],
  ["ID", (pool) => pool.id, ID_COLUMN],
  ["NETWORKS", (pool) => pool.networks.map(nameOf).join(",")],
  ["OWNER_SILOS", (pool) => pool.owner_silos.length === 0 ? "(all)" : pool.owner_silos.length],
  ["AGE", (pool) => pool.created_at, AGE_COLUMN],
  ["CREATED_AT", (pool) => pool.created_at, WIDE_COLUMN],
  ["DESCRIPTION", (pool) => pool.description],
];

export function list(): AnyCommand {
  return listCommand("list", "List network pools")
    .action(withIo(async (io) => {
      const [items, nameOf] = await Promise.all([io.all<NetworkPool>(POOLS_PATH), networkNames(io)]);
      io.table({ items }, items, columns(nameOf), "(no network pools)");
    }));
}
