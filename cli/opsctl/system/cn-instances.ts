import type { PlacedInstance } from "../../../src/contract/instance.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { byteSizeText } from "../../internal/byte-size.ts";
import { withIo } from "../../internal/run.ts";
import type { Column } from "../../internal/table.ts";
import { NODE_ARGUMENT, resolveNode } from "../node-name.ts";

const COLUMNS: readonly Column<PlacedInstance>[] = [
  ["ID", (instance) => instance.id],
  ["NAME", (instance) => instance.name],
  ["STATE", (instance) => instance.lifecycle.state],
  ["TENANT", (instance) => `${instance.silo_name}/${instance.tenant_name}`],
  ["PROJECT", (instance) => instance.project_name],
  ["CPU", (instance) => instance.cpu],
  ["MEMORY", (instance) => byteSizeText(instance.memory_bytes)],
  ["DISK", (instance) => byteSizeText(instance.disk_bytes)],
];

export function cnInstances(): AnyCommand {
  return command("cn-instances", "List the instances on a compute node, with their owners and sizes", "cn-17")
    .argument(...NODE_ARGUMENT)
    .action(withIo(async (io, name) => {
      const items = await io.all<PlacedInstance>(`/v1/system/cns/${await resolveNode(io, name)}/instances`);
      io.table({ items }, items, COLUMNS, "(no instances)");
    }));
}
