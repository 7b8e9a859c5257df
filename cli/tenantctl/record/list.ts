import { type AnyCommand, listCommand } from "../../framework.ts";
import { LABEL_FILTER_OPTION, labelFilter } from "../../internal/labels.ts";
import { withIo } from "../open-io.ts";
import { type Kind, withArticle } from "./kind.ts";
import { lineOf } from "./line.ts";
import type { Named } from "./pick.ts";
import { addParentOptions, listQuery, parentExample, withSoleVpc } from "./scope.ts";

const PARENTS = { project: "project", vpc: "VPC", "route-table": "route table", instance: "instance" } as const;

export function list<T extends Named>(kind: Kind<T>): AnyCommand {
  const { path, plural, columns } = kind;
  const parent = withArticle(PARENTS[kind.parent]);
  const listing = addParentOptions(listCommand("list", `List the ${plural} of ${parent}`, parentExample(kind)), kind);
  if (kind.has_labels) listing.option(...LABEL_FILTER_OPTION);
  return listing
    .action(withIo(async (io, ...given) => {
      const { options } = lineOf(given);
      const flags = await withSoleVpc(io, kind, options);
      const label = kind.has_labels ? labelFilter(options.label) : undefined;
      const items = await io.all<T>(path, { ...await listQuery(io, kind, flags), label });
      io.table({ items }, items, columns, `(no ${plural})`);
    }));
}
