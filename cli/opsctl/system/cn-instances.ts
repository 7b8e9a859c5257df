import type { PlacedInstance } from "../../../src/contract/instance.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../kit/run.ts";
import type { Column } from "../../kit/table.ts";
import { NODE_ARGUMENT, resolveNode } from "../node-name.ts";

const COLUMNS: readonly Column<PlacedInstance>[] = [
  ["ID", (instance) => instance.id],
  ["STATE", (instance) => instance.lifecycle.state],
];

export function cnInstances(): AnyCommand {
  return command("cn-instances", "List the instances on a compute node")
    .argument(...NODE_ARGUMENT)
    .action(withIo(async (io, name) => {
      const items = await io.all<PlacedInstance>(`/v1/system/cns/${await resolveNode(io, name)}/instances`);
      io.table({ items }, items, COLUMNS, "(no instances)");
    }));
}
