// What may stand at the cursor of a half-written command line, read from the command tree. Values that only the control
// plane knows come through `lookUp`, by the name of the argument or of the value of the option.
import type { CommandNode, OptionNode } from "../framework.ts";

export type Candidate = { readonly value: string; readonly summary: string };
export type LookUp = (argument: string) => Promise<readonly Candidate[]>;

/** `words` are all words after the program's name; the last one, perhaps empty, is being written. */
export async function candidates(root: CommandNode, argv: readonly string[], lookUp: LookUp): Promise<Candidate[]> {
  const current = argv.at(-1) ?? "";
  const place = walk(root, argv.slice(0, -1));
  const found = await candidatesAt(place, current, lookUp);
  return found.filter(({ value }) => value.startsWith(current));
}

type Place = {
  readonly node: CommandNode;
  readonly options: readonly OptionNode[];
  readonly given: number;
  readonly open: OptionNode | null;
};

/** Follows the finished words: the command reached, how many arguments it has, the option that wants a value. */
function walk(root: CommandNode, argv: readonly string[]): Place {
  let node = root;
  let options = root.options;
  let given = 0;
  let open: OptionNode | null = null;
  for (const word of argv) {
    if (open !== null) {
      open = null;
    } else if (word.startsWith("-")) {
      const option = options.find(({ flags }) => flags.includes(word));
      open = option?.takes_value === true ? option : null;
    } else {
      const child = given === 0 ? node.children.find(({ name }) => name === word) : undefined;
      if (child === undefined) given += 1;
      else {
        node = child;
        options = [...child.options, ...root.options];
      }
    }
  }
  return { node, options, given, open };
}

async function candidatesAt(
  { node, options, given, open }: Place,
  current: string,
  lookUp: LookUp,
): Promise<Candidate[]> {
  if (open !== null) return open.choices.length > 0 ? named(open.choices) : [...await lookUp(open.value_name)];
  if (current.startsWith("-")) return [...new Map(options.flatMap(optionCandidates)).values()];
  const children = given === 0 ? node.children.filter(({ hidden }) => !hidden) : [];
  const argument = node.args[given] ?? (node.args.at(-1)?.variadic === true ? node.args.at(-1) : undefined);
  if (argument === undefined) return children.map(({ name, summary }) => ({ value: name, summary }));
  return argument.choices.length > 0 ? named(argument.choices) : [...await lookUp(argument.name)];
}

function named(values: readonly string[]): Candidate[] {
  return values.map((value) => ({ value, summary: "" }));
}

function optionCandidates({ flags, summary }: OptionNode): [string, Candidate][] {
  return flags.filter((flag) => flag.startsWith("--")).map((value) => [value, { value, summary }]);
}
