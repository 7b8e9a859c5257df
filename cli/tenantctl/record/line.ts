import type { AnyCommand } from "../../framework.ts";
import type { ScopeFlags } from "./scope.ts";

export type Line = ScopeFlags & {
  readonly name?: string;
  readonly description?: string;
  readonly wait?: boolean;
  readonly label?: readonly string[];
  readonly removeLabel?: readonly string[];
};

/** Returns the argument and the options of a shared verb, which the parser cannot type. */
export function lineOf(given: readonly unknown[]): { readonly argument: string; readonly options: Line } {
  // The last parameter of an action is the command itself.
  const member = given.at(-1) as AnyCommand;
  return { argument: member.args[0] ?? "", options: member.opts() };
}
