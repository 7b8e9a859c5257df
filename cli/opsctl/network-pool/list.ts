import type { NetworkPool } from "../../../src/contract/external-network.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import type { Column } from "../../internal/table.ts";
import { type NameOf, networkNames, POOLS_PATH } from "./pool.ts";

const columns = (nameOf: NameOf): readonly Column<NetworkPool>[] => [
  ["ID", (pool) => pool.id],
  ["NAME", (pool) => pool.name],
  ["NETWORKS", (pool) => pool.networks.map(nameOf).join(",")],
  ["OWNER_SILOS", (pool) => pool.owner_silos.length === 0 ? "(all)" : pool.owner_silos.length],
  ["CREATED_AT", (pool) => pool.created_at],
  ["DESCRIPTION", (pool) => pool.description],
];

export function list(): AnyCommand {
  return command("list", "List network pools")
    .action(withIo(async (io) => {
      const [items, nameOf] = await Promise.all([io.all<NetworkPool>(POOLS_PATH), networkNames(io)]);
      io.table({ items }, items, columns(nameOf), "(no network pools)");
    }));
}
