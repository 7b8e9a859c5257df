// The opsctl command tree. `opsctl --help` must start about as fast as an empty executable, so a noun's verbs are loaded
// only when its name stands somewhere on the command line.
import { addHidden, type AnyCommand, command } from "../framework.ts";
import { VERSION } from "../version.ts";
import { NOUNS } from "./nouns.ts";

/** `words` is the command line, or "all" for the whole tree. */
export async function buildProgram(words: readonly string[] | "all"): Promise<AnyCommand> {
  const root = command("opsctl", "Operate a Berth control plane")
    .version(VERSION, "-V, --version", "print the version")
    .option("--endpoint <url>", "address of the control plane (OPSCTL_ENDPOINT)")
    .option("--api-key <key>", "API key (OPSCTL_API_KEY)")
    .option("--profile <name>", "saved profile to use (OPSCTL_PROFILE)")
    .option("--json", "print JSON");
  const loaded = words === "all" || words.includes("__complete") ? NOUNS : NOUNS.filter((n) => words.includes(n.name));
  for (const noun of NOUNS) {
    root.addCommand(loaded.includes(noun) ? await noun.load() : command(noun.name, noun.summary));
  }
  if (words !== "all" && words.includes("__complete")) {
    const { complete } = await import("./completion/complete.ts");
    addHidden(root as AnyCommand, complete());
  }
  return root as AnyCommand;
}
