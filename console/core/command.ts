// Builds command lines of opsctl and tenantctl. An action of the console shows the command line with the same effect,
// if there is one.
import { argument } from "./text.ts";

/** The flags with their values. A list gives the flag once for each value, even for an empty value. */
export type Flags = Readonly<Record<string, string | number | boolean | null | undefined | readonly string[]>>;

/**
 * Returns a command line. Empty flags are left out, and `true` gives a flag without a value. A program would read an
 * argument that begins with `-` as a flag. So these arguments come last, after `--`.
 * @param words the program, its verbs and its arguments
 */
export function command(words: readonly string[], flags: Flags = {}): string {
  const given = Object.entries(flags).flatMap(([name, value]) =>
    value === undefined || value === null || value === "" || value === false
      ? []
      : value === true
      ? [name]
      : (typeof value === "object" ? value : [String(value)]).map((each) => flag(name, each))
  );
  const dash = words.findIndex(isLikeFlag);
  const [first, last] = dash < 0 ? [words, []] : [words.slice(0, dash), ["--", ...words.slice(dash)]];
  return [...first.map(argument), ...given, ...last.map(argument)].join(" ");
}

/** A lone `-` is not a flag: as a value, it means the standard input. */
const isLikeFlag = (word: string): boolean => word.startsWith("-") && word !== "-";

function flag(name: string, value: string): string {
  return `${name}${isLikeFlag(value) ? "=" : " "}${argument(value)}`;
}

/** Returns the flags of an update. A flag with an empty text stays, because the update then clears the field. */
export function updates(options: Readonly<Record<string, string | undefined>>): Flags {
  return Object.fromEntries(
    Object.entries(options).flatMap(([name, value]) => value === undefined ? [] : [[name, [value]]]),
  );
}

export function opsctl(words: string, args: readonly string[] = [], flags: Flags = {}): string {
  return command(["opsctl", ...words.split(" "), ...args], flags);
}

export function tenantctl(words: string, args: readonly string[] = [], flags: Flags = {}): string {
  return command(["tenantctl", ...words.split(" "), ...args], flags);
}

/** The nouns of tenantctl whose commands act in a project. */
const OF_PROJECT: ReadonlySet<string> = new Set([
  "disk",
  "firewall-rule",
  "floating-ip",
  "image",
  "instance",
  "nat-gateway",
  "nic",
  "placement-group",
  "port-forward",
  "quota",
  "route",
  "route-table",
  "snapshot",
  "subnet",
  "vpc",
  "webhook",
]);

/** The number of words of a command that acts in a project, up to its verb: `tenantctl vpc list`. */
const VERB_WORDS = 3;

/** Whether a command line acts in a project. */
export function isOfProject(line: string): boolean {
  const [program, noun = ""] = line.split(" ");
  return program === "tenantctl" && OF_PROJECT.has(noun);
}

/** Returns a command line that acts in this project, whatever project the user's environment names. */
export function inProjectNamed(line: string, project: string): string {
  if (!isOfProject(line)) return line;
  const words = line.split(" ");
  // Nothing after `--` is a flag. So if the line has `--`, the flag `--project` follows the verb.
  const at = words.includes("--") ? VERB_WORDS : words.length;
  return words.toSpliced(at, 0, flag("--project", project)).join(" ");
}
