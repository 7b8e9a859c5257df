// The opsctl command tree. The verbs of a noun are loaded only when the noun is on the command line, or to complete
// words. A command does not load the code of other commands.
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
  // A known noun needs no alias, and does not load the code of profiles. Broken profiles do not hide the usage error.
  if (!NOUNS.some(({ name }) => name === argv[0])) {
    const { expandAlias } = await import("./profile/expand.ts");
    words = await expandAlias(argv, environment).catch(() => argv);
  }
  return await runCommand(await buildProgram(words), words, environment);
}
