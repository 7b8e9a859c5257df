import { type AnyCommand, command } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { DESCRIPTION_OPTION, NAME_OPTION, patchOf } from "../../internal/named-patch.ts";
import { withIo } from "../open-io.ts";
import { type Kind, withArticle } from "./kind.ts";
import { lineOf } from "./line.ts";
import type { Named } from "./pick.ts";
import { addNameArgument, nameExample, resolveRecord } from "./scope.ts";

export function update<T extends Named>(kind: Kind<T>): AnyCommand {
  return addNameArgument(
    command(
      "update",
      `Change the name or description of ${withArticle(kind.singular)}`,
      `${nameExample(kind)} --description "first try"`,
    ),
    kind,
  )
    .option(...NAME_OPTION)
    .option(...DESCRIPTION_OPTION)
    .action(withIo(async (io, ...given) => {
      const { argument, options } = lineOf(given);
      const body = patchOf(options);
      const id = await resolveRecord(io, kind, { ...options, name: argument });
      const record = await io.send<T>({ method: "PATCH", path: `${kind.path}/${id}`, body });
      io.print(record, blockText(kind.lines(record)));
    }));
}
