// The tenantctl command tree. A noun's verbs are loaded only when its name stands somewhere on the command line, so that
// no command waits for the code of the others.
import { addHidden, type AnyCommand, command, rootCommand } from "../framework.ts";
import type { ExitCode } from "../internal/exit-code.ts";
import { runCommand } from "../internal/run.ts";
import type { Environment } from "../internal/environment.ts";
import { asksForData } from "./flags.ts";
import { FRONT } from "./front.ts";
import { NOUNS } from "./nouns.ts";

/** `words` is the command line, or "all" for the whole tree. */
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

/** The kit looks for --json to decide how a failure is printed; -o json means the same. */
export async function runTenantctl(argv: readonly string[], environment: Environment): Promise<ExitCode> {
  const root = await buildProgram(argv);
  return await runCommand(root, asksForData(argv) ? ["--json", ...argv] : argv, environment);
}
