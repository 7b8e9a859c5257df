// Wraps the argument parser (commander, typed by extra-typings). No other file imports the parser. A verb is a command
// that runs, such as `approve`; a noun is a group of verbs, such as `cn`. Verbs are declared with these functions.
// Completion, man pages and the tests of help read the tree that `describe` returns.
import {
  Command,
  CommanderError,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
} from "@commander-js/extra-typings";
import { withSuggestion } from "./unknown-word.ts";
import { type Front, HELP_NOUN, HELP_OPTION, VERSION_OPTION } from "./front-page.ts";

export type AnyCommand = CommandUnknownOpts;
/** A verb with the types of its arguments and options. */
export type Verb<A extends unknown[], O extends Record<string, unknown>> = Command<A, O>;

/** The arguments and options of each verb's example; an empty text for an example without any. */
const examples = new WeakMap<AnyCommand, string>();

/**
 * Returns a verb or a group. The caller adds options, arguments and an action to it. Help shows one example of a verb;
 * `example` contains the arguments and options after the verb.
 */
export function command(name: string, summary: string, example = ""): Command {
  const made = new Command(name).description(summary).addHelpText("after", ({ command }) => exampleText(command));
  examples.set(made, example);
  return made;
}

function exampleText(member: AnyCommand): string {
  const example = exampleOf(member);
  return example === null ? "" : `\nExample:\n  ${example}`;
}

/** Returns the example as it is typed, or null for a group. */
function exampleOf(member: AnyCommand): string | null {
  const words = examples.get(member);
  if (words === undefined || member.commands.length > 0) return null;
  return `${pathOf(member).join(" ")} ${words}`.trimEnd();
}

function pathOf(member: AnyCommand): readonly string[] {
  return [...member.parent === null ? [] : pathOf(member.parent), member.name()];
}

const WATCH_OPTION = ["-w, --watch", "print again when something changes, until Ctrl-C"] as const;

/** Returns a verb that prints one record. With --watch it prints the record again after each change. */
export function showCommand(name: string, summary: string, example = "") {
  return command(name, summary, example).option(...WATCH_OPTION);
}

/**
 * Returns a verb that prints a list, with the options that select and order its rows (internal/output/selection.ts).
 */
export function listCommand(name: string, summary: string, example = "") {
  return showCommand(name, summary, example)
    .option("--columns <columns>", "columns of the table or CSV, as in name,state")
    .option("--sort-by <column>", "order of the rows: COLUMN or COLUMN:desc")
    .option("--filter <conditions>", "only rows that match, as in 'state=running,age>1h'; operators: = != ~ < > <= >=");
}

export function group(name: string, summary: string, members: readonly AnyCommand[]): AnyCommand {
  const made = command(name, summary);
  for (const member of members) made.addCommand(member);
  return made;
}

/** Returns the root command of a program, with the options of its front page. The caller adds the nouns. */
export function rootCommand({ name, summary, version, options }: Front): AnyCommand {
  const root: AnyCommand = command(name, summary)
    .version(version, VERSION_OPTION.flags, VERSION_OPTION.summary)
    .helpOption(HELP_OPTION.flags, HELP_OPTION.summary)
    .helpCommand(HELP_NOUN.name, HELP_NOUN.summary);
  for (const { flags, summary, choices, choices_are_open, hidden } of options) {
    const made: Option = new Option(flags, summary).hideHelp(hidden === true);
    if (choices !== undefined) made.choices(choices);
    root.addOption(choices_are_open === true ? made.argParser((text) => text) : made);
  }
  return root;
}

/** Adds a command that help does not list, because only scripts and programs call it. */
export function addHidden(parent: AnyCommand, child: AnyCommand): void {
  parent.addCommand(child, { hidden: true });
}

/** Returns an option as an object, so that the caller can declare relations to other options (`.conflicts()`). */
export function option<const F extends string>(flags: F, summary: string) {
  return new Option(flags, summary);
}

/** Parses an option that may be repeated: collects every value in order. */
export function each(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...before ?? [], value];
}

/** Returns an option with a closed set of values. */
export function oneOf<const F extends string, const V extends readonly string[]>(flags: F, summary: string, values: V) {
  return new Option(flags, summary).choices(values);
}

/**
 * Returns the error that an option's parser throws. Commander prints the message after the option's name and value, so
 * the message is a complete sentence.
 */
export function invalidValue(sentence: string): Error {
  return new InvalidArgumentError(sentence);
}

/** Returns a parser for a whole number of at least `min`. */
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
 * Parses `argv` and runs its verb. Writes help to `output.out`, or to `output.err` if the verb is missing. Returns a
 * usage error as a value, whose message is null if help was printed instead. Errors that the verb throws pass through.
 */
export async function parse(root: AnyCommand, argv: readonly string[], output: HelpOutput): Promise<ParseOutcome> {
  let at = root;
  for (const member of everyCommand(root)) seal(member, root, output, () => at = member);
  try {
    await root.parseAsync([...helpAsked(argv)], { from: "user" });
    return { kind: "done" };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { kind: "done" };
    return { kind: "usage", message: error.code === "commander.help" ? null : usageMessage(error, at) };
  }
}

/** Errors that the help of the command explains. Only the messages of these errors name the help. */
const ANSWERED_BY_HELP: ReadonlySet<string> = new Set([
  "commander.unknownOption",
  "commander.unknownCommand",
  "commander.excessArguments",
  "commander.missingArgument",
  "commander.missingMandatoryOptionValue",
]);

function usageMessage({ code, message }: CommanderError, at: AnyCommand): string {
  const text = code === "commander.excessArguments"
    ? excessText(at)
    : withSuggestion(message.replace(/^error: /, ""), at);
  const isAnswered = !ANSWERED_BY_HELP.has(code) || text.includes("Did you mean");
  return isAnswered ? text : `${text}; see: ${pathOf(at).join(" ")} --help`;
}

/** Returns a text such as `image search takes no arguments, got: ubuntu`. */
function excessText(at: AnyCommand): string {
  const [, ...path] = pathOf(at);
  const count = at.registeredArguments.length;
  const taken = count === 0 ? "no arguments" : count === 1 ? "one argument" : `at most ${count} arguments`;
  return `${path.join(" ")} takes ${taken}, got: ${at.args.join(" ")}`;
}

/** The name of the command that HELP_NOUN describes. */
const HELP_WORD = "help";

/** The parser's command `help` accepts only one name. So `help cn approve` becomes `cn approve --help`. */
function helpAsked(argv: readonly string[]): readonly string[] {
  const [first, ...path] = argv;
  return first === HELP_WORD && path.length > 1 ? [...path, "--help"] : argv;
}

function seal(member: AnyCommand, root: AnyCommand, output: HelpOutput, onError: () => void): void {
  // The parser must not end the process, because that would truncate output to a pipe.
  member.exitOverride((error) => {
    onError();
    throw error;
  });
  member.configureOutput({
    writeOut: output.out,
    writeErr: output.err,
    outputError: () => {},
    getOutHelpWidth: output.columns,
    getErrHelpWidth: output.columns,
    getOutHasColors: () => false,
    getErrHasColors: () => false,
    // No help text has colours, and searching for colour codes takes as long as laying out the page.
    stripColor: (text) => text,
  });
  member.configureHelp({
    showGlobalOptions: true,
    displayWidth: (text) => text.length,
    // The root lists groups that are not loaded yet (nouns.ts), so it shows their names without arguments.
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
  /** A command line as it is typed. Null for a group. */
  readonly example: string | null;
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
  /** The flags with the value: `-o, --output <format>`. */
  readonly text: string;
  readonly flags: readonly string[];
  readonly summary: string;
  readonly takes_value: boolean;
  /** Name of the value: `stamp` in `--pi <stamp>`. Empty if the option takes no value. */
  readonly value_name: string;
  readonly choices: readonly string[];
  /** The command requires this option. */
  readonly mandatory: boolean;
  /** The default value as JSON. */
  readonly default_text: string | null;
};

/** Returns the command tree as data. */
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
      default_text: isShownDefault(option.defaultValue) ? JSON.stringify(option.defaultValue) : null,
    })),
    args: member.registeredArguments.map((argument) => ({
      name: argument.name(),
      summary: argument.description,
      required: argument.required,
      choices: argument.argChoices ?? [],
      variadic: argument.variadic,
    })),
    children: [...member.commands, ...visible.filter((child) => !member.commands.includes(child))].map(describe),
    example: exampleOf(member),
    help: () => `${member.helpInformation()}${exampleText(member)}`,
  };
}

/** Returns whether the manual shows this default. The manual does not show an empty list. */
function isShownDefault(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}
