import type { PlacedInstance } from "../../../src/contract/instance.ts";
import { type AnyCommand, listCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { BYTES_COLUMN, type Column, ID_COLUMN, STATE_COLUMN } from "../../internal/table.ts";
import { NODE_ARGUMENT, resolveNode } from "../node-name.ts";

const COLUMNS: readonly Column<PlacedInstance>[] = [
  ["NAME", (instance) => instance.name],
  ["ID", (instance) => instance.id, ID_COLUMN],
  ["STATE", (instance) => instance.lifecycle.state, STATE_COLUMN],
  ["TENANT", (instance) => `${instance.silo_name}/${instance.tenant_name}`],
  ["PROJECT", (instance) => instance.project_name],
  ["CPU", (instance) => instance.cpu],
  ["MEMORY", (instance) => instance.memory_bytes, BYTES_COLUMN],
  ["DISK", (instance) => instance.disk_bytes, BYTES_COLUMN],
];

export function cnInstances(): AnyCommand {
  return listCommand("cn-instances", "List the instances on a compute node, with their owners and sizes", "cn-17")
    .argument(...NODE_ARGUMENT)
    .action(withIo(async (io, name) => {
      const items = await io.all<PlacedInstance>(`/v1/system/cns/${await resolveNode(io, name)}/instances`);
      io.table({ items }, items, COLUMNS, "(no instances)");
    }));
}
