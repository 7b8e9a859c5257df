// Prints the output of `env`: shell commands that make other commands use the same endpoint and credential.
import type { Io } from "./io.ts";
import { shellQuote } from "./shell-quote.ts";

/**
 * Prints exports of these variables. `replaced` are variables that would override the exports or conflict with them. If
 * such a variable is set, also prints the command that unsets it.
 */
export function printExports(
  io: Pick<Io, "environment" | "print">,
  exports: Readonly<Record<string, string>>,
  replaced: readonly string[],
): void {
  const unset = replaced.filter((name) => io.environment.env[name]).map((name) => `unset ${name}`);
  const lines = Object.entries(exports).map(([name, value]) => `export ${name}=${shellQuote(value)}`);
  io.print(exports, [...unset, ...lines].join("\n"));
}
