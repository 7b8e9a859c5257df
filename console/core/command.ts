// Builds command lines of opsctl and tenantctl. An action of the console shows the command line with the same effect,
// if there is one.
import { argument } from "./text.ts";

export type Flags = Readonly<Record<string, string | number | boolean | null | undefined>>;

/**
 * Returns a command line. Empty flags are left out, and `true` gives a flag without a value.
 * @param words the program, its verbs and its arguments
 */
export function command(words: readonly string[], flags: Flags = {}): string {
  const given = Object.entries(flags).flatMap(([name, value]) =>
    value === undefined || value === null || value === "" || value === false
      ? []
      : value === true
      ? [name]
      : [name, argument(String(value))]
  );
  return [...words.map(argument), ...given].join(" ");
}

/** Returns the options of an update, as words of a command. The option of an empty text stays: it clears a field. */
export function updates(options: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(options).flatMap(([name, value]) => value === undefined ? [] : [name, value]);
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

/** Whether a command line acts in a project. */
export function isOfProject(line: string): boolean {
  const [program, noun = ""] = line.split(" ");
  return program === "tenantctl" && OF_PROJECT.has(noun);
}

/** Returns a command line that acts in this project, whatever project the user's environment names. */
export function inProjectNamed(line: string, project: string): string {
  return isOfProject(line) ? `${line} --project ${argument(project)}` : line;
}
