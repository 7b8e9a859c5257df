import type { Snapshot } from "../../../src/contract/snapshot.ts";
import { type AnyCommand, listCommand } from "../../framework.ts";
import { LABEL_FILTER_OPTION, labelFilter } from "../../internal/labels.ts";
import { withIo } from "../open-io.ts";
import { INSTANCE_OPTION, resolveInstance } from "../record/scope.ts";
import { projectScope } from "../scope.ts";
import { SNAPSHOT } from "./snapshot.ts";

export function list(): AnyCommand {
  return listCommand("list", "List the snapshots of a project or an instance", "--instance web1")
    .option(...INSTANCE_OPTION)
    .option(...LABEL_FILTER_OPTION)
    .action(withIo(async (io, { instance, label }) => {
      const query = instance === undefined ? await projectScope(io) : { instance: await resolveInstance(io, instance) };
      const items = await io.all<Snapshot>(SNAPSHOT.path, { ...query, label: labelFilter(label) });
      io.table({ items }, items, SNAPSHOT.columns, "(no snapshots)");
    }));
}
