import { type AnyCommand, command } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { LABEL_OPTION, labelsPatch, REMOVE_LABEL_OPTION } from "../../internal/labels.ts";
import { DESCRIPTION_OPTION, NAME_OPTION, namesOf, patchOf } from "../../internal/named-patch.ts";
import { withIo } from "../open-io.ts";
import { type Kind, linesOf, withArticle } from "./kind.ts";
import { lineOf } from "./line.ts";
import type { Named } from "./pick.ts";
import { addNameArgument, nameExample, resolveRecord } from "./scope.ts";

export function update<T extends Named>(kind: Kind<T>): AnyCommand {
  const what = kind.has_labels ? "name, description or labels" : "name or description";
  const shared = addNameArgument(
    command(
      "update",
      `Change the ${what} of ${withArticle(kind.singular)}`,
      `${nameExample(kind)} --description "first try"`,
    ),
    kind,
  )
    .option(...NAME_OPTION)
    .option(...DESCRIPTION_OPTION);
  if (kind.has_labels) shared.option(...LABEL_OPTION).option(...REMOVE_LABEL_OPTION);
  return shared
    .action(withIo(async (io, ...given) => {
      const { argument, options } = lineOf(given);
      const labels = kind.has_labels ? labelsPatch(options) : undefined;
      const body = labels === undefined ? patchOf(options) : { ...namesOf(options), labels };
      const id = await resolveRecord(io, kind, { ...options, name: argument });
      const record = await io.send<T>({ method: "PATCH", path: `${kind.path}/${id}`, body });
      io.print(record, blockText(linesOf(kind, record)));
    }));
}
