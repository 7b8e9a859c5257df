// Builds the front page, which is the version or the top-level help, without the argument parser. A start must take at
// most three times as long as the start of an empty executable. Loading the parser alone takes longer than the rest of
// the start. The parser builds its page from the same `Front` (framework.ts, rootCommand). A test compares the two
// pages at many widths.

export type FrontOption = {
  readonly flags: string;
  readonly summary: string;
  readonly choices?: readonly string[];
  /** The option also accepts values that are not in `choices`. */
  readonly choices_are_open?: boolean;
  /** The program accepts the option, but help does not list it. */
  readonly hidden?: boolean;
};

export type Front = {
  readonly name: string;
  readonly summary: string;
  readonly version: string;
  /** Options in addition to VERSION_OPTION and HELP_OPTION, which every program has. */
  readonly options: readonly FrontOption[];
  readonly nouns: readonly { readonly name: string; readonly summary: string }[];
};

export const VERSION_OPTION = { flags: "-V, --version", summary: "print the version" } as const;
export const HELP_OPTION = { flags: "-h, --help", summary: "display help for command" } as const;
export const HELP_NOUN = { name: "help [command]", summary: "display help for command" } as const;

/** Minimum width for wrapping. In fewer columns text is not wrapped; the parser does the same. */
const WRAP_COLUMNS_MIN = 40;
const INDENT = "  ";

/** Returns the text for `argv`, or null if the parser must read it. Calls `columns` only for help. */
export function frontText(front: Front, argv: readonly string[], columns: () => number): string | null {
  const only = argv.length === 1 ? argv[0]! : "";
  if (VERSION_OPTION.flags.split(", ").includes(only)) return `${front.version}\n`;
  if (HELP_OPTION.flags.split(", ").includes(only)) return helpText(front, columns());
  return null;
}

function helpText({ name, summary, options, nouns }: Front, columns: number): string {
  const shown = [VERSION_OPTION, ...options.filter(({ hidden }) => hidden !== true), HELP_OPTION];
  const flags = shown.map((option): Item => [option.flags, explained(option)]);
  const names = [...nouns, HELP_NOUN].map((noun): Item => [noun.name, noun.summary]);
  const term_columns = [...flags, ...names].reduce((widest, [term]) => Math.max(widest, term.length), 0);
  const list = (items: readonly Item[]) => items.map((item) => itemText(item, term_columns, columns));
  const lines = [
    `Usage: ${name} [options] [command]`,
    "",
    wrapped(summary, columns).join("\n"),
    "",
    "Options:",
    ...list(flags),
    "",
    "Commands:",
    ...list(names),
  ];
  return `${lines.join("\n")}\n`;
}

type Item = readonly [term: string, text: string];

function explained({ summary, choices }: FrontOption): string {
  if (choices === undefined) return summary;
  return `${summary} (choices: ${choices.map((choice) => JSON.stringify(choice)).join(", ")})`;
}

function itemText([term, text]: Item, term_columns: number, columns: number): string {
  const margin = INDENT + " ".repeat(term_columns) + INDENT;
  const lines = wrapped(text, columns - margin.length).join(`\n${margin}`);
  return INDENT + term.padEnd(term_columns) + INDENT + lines;
}

function wrapped(text: string, columns: number): string[] {
  if (columns < WRAP_COLUMNS_MIN) return [text];
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= columns) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
