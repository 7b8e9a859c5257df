// If a usage error reports an unknown word, adds the word that the user probably meant.
import type { AnyCommand } from "./framework.ts";

/**
 * Words that users know from other programs, each with Berth's words of the same meaning. The message suggests the
 * first of Berth's words that is a command or an option under the same parent command.
 */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  delete: ["remove", "revoke"],
  destroy: ["delete", "remove"],
  edit: ["update", "set"],
  get: ["show"],
  ls: ["list"],
  node: ["cn"],
  nodes: ["cn"],
  remove: ["delete"],
  restart: ["reboot"],
  revoke: ["delete"],
  rm: ["delete", "remove"],
  version: ["--version"],
};

/**
 * Returns the message with our suggestion, which replaces a suggestion of the parser. Returns the message unchanged if
 * we have no suggestion.
 */
export function withSuggestion(text: string, at: AnyCommand): string {
  const [, kind, word = ""] = /^unknown (command|option) '([^']*)'/.exec(text) ?? [];
  if (kind === undefined) return text;
  const meant = kind === "command" ? synonymOf(word, at) : longerFlagOf(word, at);
  return meant === null ? text : `unknown ${kind} '${word}'\n(Did you mean ${meant}?)`;
}

function synonymOf(word: string, at: AnyCommand): string | null {
  const names = at.createHelp().visibleCommands(at).map((child) => child.name());
  const flags = at.parent === null ? ["--version"] : [];
  const synonyms = Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word]! : [];
  return synonyms.find((each) => names.includes(each) || flags.includes(each)) ?? null;
}

/** Returns the only option whose name ends with the given name: `--public-key-file` for `--file`. */
function longerFlagOf(flag: string, at: AnyCommand): string | null {
  const longer = at.options.flatMap(({ long }) => long?.endsWith(flag.slice(1)) === true ? [long] : []);
  return flag.startsWith("--") && longer.length === 1 ? longer[0]! : null;
}
