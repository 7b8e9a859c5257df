// Builds the command tree of tenantctl. The verbs of a noun are loaded only if the command line contains the noun, or
// if the whole tree is needed (completion, man pages). So a command does not load the code of other commands.
import { addHidden, type AnyCommand, command, rootCommand } from "../framework.ts";
import type { ExitCode } from "../internal/exit-code.ts";
import { runCommand } from "../internal/run.ts";
import type { Environment } from "../internal/environment.ts";
import { FRONT } from "./front.ts";
import { NOUNS } from "./nouns.ts";

/** Builds the command tree. `argv` is the command line, or "all" for the whole tree. */
export async function buildProgram(argv: readonly string[] | "all"): Promise<AnyCommand> {
  const root = rootCommand(FRONT);
  const completes = argv !== "all" && argv.includes("__complete");
  for (const noun of NOUNS) {
    const loaded = argv === "all" || completes || argv.includes(noun.name);
    root.addCommand(loaded ? await noun.load(noun.summary) : command(noun.name, noun.summary));
  }
  if (completes) addHidden(root, (await import("./completion/complete.ts")).complete());
  return root;
}

export async function runTenantctl(argv: readonly string[], environment: Environment): Promise<ExitCode> {
  return await runCommand(await buildProgram(argv), argv, environment);
}
