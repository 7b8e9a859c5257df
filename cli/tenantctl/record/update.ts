import type { LabeledPatch, NamedPatch } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { usageFailure } from "../../internal/failure.ts";
import { blockText } from "../../internal/table.ts";
import { LABEL_OPTION, type LabelOptions, labelsPatch, REMOVE_LABEL_OPTION } from "../../internal/labels.ts";
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
  );
  const made = kind.has_labels ? labeledOptions(shared) : shared.option(...NAME_OPTION).option(...DESCRIPTION_OPTION);
  return made
    .action(withIo(async (io, ...given) => {
      const { argument, options } = lineOf(given);
      const body = kind.has_labels ? labeledPatch(options) : patchOf(options);
      const id = await resolveRecord(io, kind, { ...options, name: argument });
      const record = await io.send<T>({ method: "PATCH", path: `${kind.path}/${id}`, body });
      io.print(record, blockText(linesOf(kind, record)));
    }));
}

/** Adds the options of an update of a record with labels. */
export function labeledOptions(made: AnyCommand): AnyCommand {
  return made.option(...NAME_OPTION).option(...DESCRIPTION_OPTION).option(...LABEL_OPTION).option(
    ...REMOVE_LABEL_OPTION,
  );
}

/** Returns the body of an update of a record with labels. Throws a usage Failure if no option changes anything. */
export function labeledPatch(options: NamedPatch & LabelOptions): LabeledPatch {
  const labels = labelsPatch(options);
  const { name, description } = options;
  if (name === undefined && description === undefined && labels === undefined) {
    throw usageFailure("there is nothing to change; pass --name, --description, --label or --remove-label");
  }
  return { ...namesOf(options), ...labels !== undefined && { labels } };
}
