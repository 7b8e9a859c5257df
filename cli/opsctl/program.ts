// Builds the command tree of opsctl. The verbs of a noun are loaded only if the command line contains the noun, or if
// the whole tree is needed (completion, man pages). So a command does not load the code of other commands.
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
    root.addCommand(loaded ? await noun.load() : command(noun.name, noun.summary));
  }
  if (completes) addHidden(root, (await import("./completion/complete.ts")).complete());
  return root;
}

export async function runOpsctl(argv: readonly string[], environment: Environment): Promise<ExitCode> {
  let words = argv;
  // Aliases are read only if the command line does not begin with a noun. If the file of profiles is broken, the alias
  // is not replaced, and the user gets the error about an unknown command.
  if (!NOUNS.some(({ name }) => name === argv[0])) {
    const { expandAlias } = await import("./profile/expand.ts");
    words = await expandAlias(argv, environment).catch(() => argv);
  }
  return await runCommand(await buildProgram(words), words, environment);
}
