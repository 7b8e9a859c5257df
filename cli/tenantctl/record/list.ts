import { type AnyCommand, listCommand } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { type Kind, withArticle } from "./kind.ts";
import { lineOf } from "./line.ts";
import type { Named } from "./pick.ts";
import { addParentOptions, listQuery, parentExample, withSoleVpc } from "./scope.ts";

const PARENTS = { project: "project", vpc: "VPC", "route-table": "route table", instance: "instance" } as const;

export function list<T extends Named>(kind: Kind<T>): AnyCommand {
  const { path, plural, columns } = kind;
  const parent = withArticle(PARENTS[kind.parent]);
  return addParentOptions(listCommand("list", `List the ${plural} of ${parent}`, parentExample(kind)), kind)
    .action(withIo(async (io, ...given) => {
      const flags = await withSoleVpc(io, kind, lineOf(given).options);
      const items = await io.all<T>(path, await listQuery(io, kind, flags));
      io.table({ items }, items, columns, `(no ${plural})`);
    }));
}
