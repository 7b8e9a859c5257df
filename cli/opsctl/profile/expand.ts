// Replaces an alias at the start of a command line by the words of the alias. The name of a command is never replaced,
// so an alias cannot change the meaning of a script.
import { profileName } from "../../internal/connection.ts";
import type { Environment } from "../../internal/environment.ts";
import { readProfiles } from "../../internal/profile.ts";
import { NOUNS } from "../nouns.ts";

export async function expandAlias(argv: readonly string[], environment: Environment): Promise<readonly string[]> {
  const [first, ...rest] = argv;
  if (first === undefined || !/^[a-z][a-z0-9-]*$/.test(first)) return argv;
  if (first === "help" || NOUNS.some(({ name }) => name === first)) return argv;
  const profile = await profileName(environment, profileFlag(rest));
  const words = (await readProfiles(environment)).aliases.get(profile)?.get(first);
  // The words are not expanded again, even if they begin with another alias.
  return words === undefined ? argv : [...words, ...rest];
}

/** Returns the option --profile, which the parser reads only later. */
function profileFlag(argv: readonly string[]): { readonly profile?: string } {
  const at = argv.findIndex((word) => word === "--profile" || word.startsWith("--profile="));
  if (at < 0) return {};
  const profile = argv[at] === "--profile" ? argv[at + 1] : argv[at]!.slice("--profile=".length);
  return profile === undefined ? {} : { profile };
}
