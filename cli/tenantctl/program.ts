// The tenantctl command tree. A noun's verbs are loaded only when its name stands somewhere on the command line, so that
// `tenantctl --help` starts about as fast as an empty executable.
import { addHidden, type AnyCommand, command, oneOf, option } from "../framework.ts";
import type { ExitCode } from "../kit/exit-code.ts";
import { runCommand } from "../kit/run.ts";
import type { World } from "../kit/world.ts";
import { VERSION } from "../version.ts";
import { asksForData, FORMATS } from "./flags.ts";
import { NOUNS } from "./nouns.ts";

/** `words` is the command line, or "all" for the whole tree. */
export async function buildProgram(words: readonly string[] | "all"): Promise<AnyCommand> {
  const root = command("tenantctl", "Use a Berth control plane as a tenant")
    .version(VERSION, "-V, --version", "print the version")
    .option("--endpoint <url>", "address of the control plane (TENANTCTL_ENDPOINT)")
    .option("--api-key <key>", "API key or access token (TENANTCTL_API_KEY, TENANTCTL_ACCESS_TOKEN)")
    .option("--project <uuid>", "project to work in (TENANTCTL_PROJECT)")
    .addOption(
      oneOf("-o, --output <format>", "how to print; left out, table on a terminal and json otherwise", FORMATS),
    )
    .addOption(option("--json", "the same as -o json").hideHelp())
    .option("--no-headers", "tables without their first line");
  const completes = words !== "all" && words.includes("__complete");
  for (const noun of NOUNS) {
    const loaded = words === "all" || completes || words.includes(noun.name);
    root.addCommand(loaded ? await noun.load(noun.summary) : command(noun.name, noun.summary));
  }
  if (completes) addHidden(root as AnyCommand, (await import("./completion/complete.ts")).complete());
  return root as AnyCommand;
}

/** The kit looks for --json to decide how a failure is printed; -o json means the same. */
export async function runTenantctl(words: readonly string[], world: World): Promise<ExitCode> {
  const root = await buildProgram(words);
  return await runCommand(root, asksForData(words) ? ["--json", ...words] : words, world);
}
