// Finds completion candidates for a partial command line in the command tree. `lookUp` gets the name of an argument or
// of an option's value, and returns the values that the control plane has for this name.
import type { CommandNode, OptionNode } from "../framework.ts";

export type Candidate = { readonly value: string; readonly summary: string };
export type LookUp = (argument: string) => Promise<readonly Candidate[]>;

/** Returns the candidates for the last word, which may be an empty text. `words` excludes the program's name. */
export async function candidates(root: CommandNode, words: readonly string[], lookUp: LookUp): Promise<Candidate[]> {
  const current = words.at(-1) ?? "";
  const cursor = walk(root, words.slice(0, -1));
  const found = await candidatesAt(cursor, current, lookUp);
  return found.filter(({ value }) => value.startsWith(current));
}

type Cursor = {
  readonly node: CommandNode;
  readonly options: readonly OptionNode[];
  readonly given: number;
  readonly open: OptionNode | null;
};

/**
 * Follows the complete words. Returns the command, its options, the number of its arguments so far, and the option that
 * still needs a value, or null.
 */
function walk(root: CommandNode, words: readonly string[]): Cursor {
  let node = root;
  let options = root.options;
  let given = 0;
  let open: OptionNode | null = null;
  for (const word of words) {
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
  { node, options, given, open }: Cursor,
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
