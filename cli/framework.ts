// The only file that knows which argument parser is underneath (commander, typed by extra-typings). Verbs declare
// themselves with these functions; completion and the help tests read the plain tree of `describe`.
import {
  Command,
  CommanderError,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
} from "@commander-js/extra-typings";
import { type Front, HELP_NOUN, HELP_OPTION, VERSION_OPTION } from "./front-page.ts";

export type AnyCommand = CommandUnknownOpts;

/** A verb or a group, before its options, arguments and action are chained on. */
export function command(name: string, summary: string): Command {
  return new Command(name).description(summary);
}

export function group(name: string, summary: string, members: readonly AnyCommand[]): AnyCommand {
  const made = command(name, summary);
  for (const member of members) made.addCommand(member);
  return made;
}

/** The root of a program, which shows what its front page shows. The nouns are added by the caller. */
export function rootCommand({ name, summary, version, options }: Front): AnyCommand {
  const root: AnyCommand = command(name, summary)
    .version(version, VERSION_OPTION.flags, VERSION_OPTION.summary)
    .helpOption(HELP_OPTION.flags, HELP_OPTION.summary)
    .helpCommand(HELP_NOUN.name, HELP_NOUN.summary);
  for (const { flags, summary, choices, hidden } of options) {
    const made = new Option(flags, summary).hideHelp(hidden === true);
    root.addOption(choices === undefined ? made : made.choices(choices));
  }
  return root;
}

/** A command that works but is not listed in help, for machines only. */
export function addHidden(parent: AnyCommand, child: AnyCommand): void {
  parent.addCommand(child, { hidden: true });
}

/** An option on its own, where it has relations to others (`.conflicts()`). */
export function option<const F extends string>(flags: F, summary: string) {
  return new Option(flags, summary);
}

/** A parser for options that may be given more than once: every value, in order. */
export function each(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...before ?? [], value];
}

/** An option whose value is one of a closed set. */
export function oneOf<const F extends string, const V extends readonly string[]>(flags: F, summary: string, values: V) {
  return new Option(flags, summary).choices(values);
}

/** A parser for options that take a whole number of at least `min`. */
export function wholeNumber(min: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^[0-9]+$/.test(text) || !Number.isSafeInteger(value) || value < min) {
      throw new InvalidArgumentError(`It must be a whole number, at least ${min}.`);
    }
    return value;
  };
}

export function finiteNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new InvalidArgumentError("It must be a number.");
  return value;
}

export function rootOf(member: AnyCommand): AnyCommand {
  return member.parent === null ? member : rootOf(member.parent);
}

export type ParseOutcome = { kind: "done" } | { kind: "usage"; message: string | null };
export type HelpOutput = { out(text: string): void; err(text: string): void; columns(): number };

/**
 * Parses `words` and runs the verb they name. Help goes to `output.out`; a usage error comes back as a value, with a
 * null message when help was already printed instead. What a verb throws passes through.
 */
export async function parse(root: AnyCommand, argv: readonly string[], output: HelpOutput): Promise<ParseOutcome> {
  for (const member of everyCommand(root)) seal(member, root, output);
  try {
    await root.parseAsync([...argv], { from: "user" });
    return { kind: "done" };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { kind: "done" };
    return { kind: "usage", message: error.code === "commander.help" ? null : error.message.replace(/^error: /, "") };
  }
}

function seal(member: AnyCommand, root: AnyCommand, output: HelpOutput): void {
  // The parser must never end the process: output that is still in the pipe would be cut.
  member.exitOverride();
  member.configureOutput({
    writeOut: output.out,
    writeErr: output.err,
    outputError: () => {},
    getOutHelpWidth: output.columns,
    getErrHelpWidth: output.columns,
    getOutHasColors: () => false,
    getErrHasColors: () => false,
    // No text of ours has colours, and the first search for them takes as long as laying out the page.
    stripColor: (text) => text,
  });
  member.configureHelp({
    showGlobalOptions: true,
    displayWidth: (text) => text.length,
    // The root lists groups that are not loaded yet (nouns.ts), so it can show names only.
    subcommandTerm: (child) => [child.name(), ...(child.parent === root ? [] : argumentTerms(child))].join(" "),
  });
}

function argumentTerms(member: AnyCommand): string[] {
  return member.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
}

function everyCommand(member: AnyCommand): AnyCommand[] {
  return [member, ...member.commands.flatMap(everyCommand)];
}

export type CommandNode = {
  readonly name: string;
  readonly summary: string;
  readonly hidden: boolean;
  readonly options: readonly OptionNode[];
  readonly args: readonly ArgumentNode[];
  readonly children: readonly CommandNode[];
  help(): string;
};
export type ArgumentNode = {
  readonly name: string;
  readonly summary: string;
  readonly choices: readonly string[];
  readonly variadic: boolean;
  readonly required: boolean;
};
export type OptionNode = {
  /** As they are written, with the value: `-o, --output <format>`. */
  readonly text: string;
  readonly flags: readonly string[];
  readonly summary: string;
  readonly takes_value: boolean;
  /** What stands between the brackets of its value: `stamp` in `--pi <stamp>`. Empty when it takes none. */
  readonly value_name: string;
  readonly choices: readonly string[];
  /** The command is refused without it. */
  readonly mandatory: boolean;
  /** What holds when it is left out, as JSON. */
  readonly default_text: string | null;
};

/** The command tree as data. */
export function describe(member: AnyCommand): CommandNode {
  const visible = member.createHelp().visibleCommands(member);
  return {
    name: member.name(),
    summary: member.description(),
    hidden: member.parent !== null && !member.parent.createHelp().visibleCommands(member.parent).includes(member),
    options: member.createHelp().visibleOptions(member).map((option) => ({
      text: option.flags,
      flags: [option.short, option.long].filter((flag) => typeof flag === "string"),
      summary: option.description,
      takes_value: option.required || option.optional,
      value_name: /[<[]([^<>[\]]+)[>\]]/.exec(option.flags)?.[1]?.replace(/\.{3}$/, "") ?? "",
      choices: option.argChoices ?? [],
      mandatory: option.mandatory,
      default_text: isTold(option.defaultValue) ? JSON.stringify(option.defaultValue) : null,
    })),
    args: member.registeredArguments.map((argument) => ({
      name: argument.name(),
      summary: argument.description,
      required: argument.required,
      choices: argument.argChoices ?? [],
      variadic: argument.variadic,
    })),
    children: [...member.commands, ...visible.filter((child) => !member.commands.includes(child))].map(describe),
    help: () => member.helpInformation(),
  };
}

/** An empty list says no more than that the option may be left out. */
function isTold(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}
