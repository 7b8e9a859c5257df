import { type AnyCommand, showCommand } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { type Kind, linesOf } from "./kind.ts";
import { lineOf } from "./line.ts";
import type { Named } from "./pick.ts";
import { addNameArgument, nameExample, resolveRecord } from "./scope.ts";

export function show<T extends Named>(kind: Kind<T>): AnyCommand {
  return addNameArgument(showCommand("show", `Show one ${kind.singular}`, nameExample(kind)), kind)
    .action(withIo(async (io, ...given) => {
      const { argument, options } = lineOf(given);
      const record = await io.get<T>(`${kind.path}/${await resolveRecord(io, kind, { ...options, name: argument })}`);
      io.print(record, blockText(linesOf(kind, record)));
    }));
}
