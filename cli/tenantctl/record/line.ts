import type { AnyCommand } from "../../framework.ts";
import type { PlaceWords } from "./scope.ts";

export type Line = PlaceWords & { readonly name?: string; readonly description?: string };

/** The argument and the options of a verb that is declared once for all kinds, so that the parser cannot type them. */
export function lineOf(given: readonly unknown[]): { readonly argument: string; readonly options: Line } {
  // The parser's last word to an action is the command itself.
  const member = given.at(-1) as AnyCommand;
  return { argument: member.args[0] ?? "", options: member.opts() };
}
