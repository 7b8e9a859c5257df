// Completion scripts for packages. The script of a program with `__complete` calls it; the script of any other program
// contains the whole command tree, since it completes no values from a server.
import type { CommandNode, OptionNode } from "../framework.ts";
import { COMPLETION_SCRIPTS } from "../internal/completion-scripts.ts";
import { listed } from "./page.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** A command and its words after the program's name. */
type TreePosition = { readonly words: readonly string[]; readonly node: CommandNode };

export function completionScript(shell: Shell, tree: CommandNode): { readonly path: string; readonly text: string } {
  const { name } = tree;
  const asks = listed(tree).some((child) => child.name === "completion");
  const text = asks
    ? COMPLETION_SCRIPTS[shell].script.replaceAll("opsctl", name)
    : WRITERS[shell](name, positionsOf(tree));
  return { path: `completion/${shell}/${FILE_NAMES[shell](name)}`, text: `${text}\n` };
}

/** File names by shell convention. */
const FILE_NAMES = {
  bash: (name: string) => name,
  zsh: (name: string) => `_${name}`,
  fish: (name: string) => `${name}.fish`,
} as const satisfies Readonly<Record<Shell, (name: string) => string>>;

const WRITERS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

function positionsOf(tree: CommandNode): TreePosition[] {
  const below = (position: TreePosition): TreePosition[] => [
    position,
    ...listed(position.node).flatMap((node) => below({ words: [...position.words, node.name], node })),
  ];
  return below({ words: [], node: tree });
}

function bashScript(name: string, positions: readonly TreePosition[]): string {
  return `# ${name} completion for bash
_${ident(name)}() {
  local at= word current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
${stepCases(positions)}
  done
  case "$at $before" in
${valueCases(positions, (choices) => `COMPREPLY=($(compgen -W ${quoted(choices.join(" "))} -- "$current"))`)}
  esac
  case "$at" in
${
    positions.map(({ words, node }) =>
      `    ${quoted(at(words))}) COMPREPLY=($(compgen -W ${quoted(wordsAt(node).join(" "))} -- "$current")) ;;`
    ).join("\n")
  }
  esac
}
complete -o default -F _${ident(name)} ${name}`;
}

function zshScript(name: string, positions: readonly TreePosition[]): string {
  return `#compdef ${name}
# ${name} completion for zsh
_${ident(name)}() {
  local at= word before=\${words[CURRENT-1]}
  for word in "\${(@)words[2,CURRENT-1]}"; do
${stepCases(positions)}
  done
  case "$at $before" in
${valueCases(positions, (choices) => `compadd -- ${choices.map(quoted).join(" ")}`, "_files")}
  esac
  case "$at" in
${
    positions.map(({ words, node }) =>
      `    ${quoted(at(words))}) compadd -- ${wordsAt(node).map(quoted).join(" ")}; _files ;;`
    )
      .join("\n")
  }
  esac
}
if [ "$funcstack[1]" = "_${ident(name)}" ]; then _${ident(name)} "$@"; else compdef _${ident(name)} ${name}; fi`;
}

function fishScript(name: string, positions: readonly TreePosition[]): string {
  const lines = positions.flatMap(({ words, node }) => {
    const children = listed(node);
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`);
    const none = children.length === 0
      ? []
      : [`not __fish_seen_subcommand_from ${children.map((each) => each.name).join(" ")}`];
    const when = (parts: readonly string[]) => parts.length === 0 ? "" : ` -n ${quoted(parts.join("; and "))}`;
    return [
      ...children.map((child) =>
        `complete -c ${name}${when([...seen, ...none])} -f -a ${child.name} -d ${quoted(child.summary)}`
      ),
      ...node.options.map((option) => `complete -c ${name}${when(seen)} ${fishOption(option)}`),
    ];
  });
  return [`# ${name} completion for fish`, ...lines].join("\n");
}

function fishOption({ flags, takes_value, choices, summary }: OptionNode): string {
  const names = flags.map((flag) => flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`);
  const values = choices.length > 0 ? ` -x -a ${quoted(choices.join(" "))}` : takes_value ? " -r" : "";
  return `${names.join(" ")}${values} -d ${quoted(summary)}`;
}

/** Follows the complete words down the tree; ignores other words. */
function stepCases(positions: readonly TreePosition[]): string {
  const cases = positions.filter(({ words }) => words.length > 0)
    .map(({ words }) => `${quoted(`${at(words.slice(0, -1))} ${words.at(-1)}`)}) at=${quoted(at(words))} ;;`);
  return `    case "$at $word" in\n${cases.map((each) => `      ${each}`).join("\n")}\n    esac`;
}

/** Completes the value of an option. */
function valueCases(
  positions: readonly TreePosition[],
  offer: (choices: readonly string[]) => string,
  files = "",
): string {
  return positions.flatMap(({ words, node }) =>
    node.options.filter(({ takes_value }) => takes_value).flatMap(({ flags, choices }) => {
      const pattern = flags.map((flag) => quoted(`${at(words)} ${flag}`)).join(" | ");
      const action = choices.length > 0 ? offer(choices) : files;
      return [`    ${pattern}) ${action === "" ? "" : `${action}; `}return ;;`];
    })
  ).join("\n");
}

function at(words: readonly string[]): string {
  return words.map((word) => ` ${word}`).join("");
}

function wordsAt(node: CommandNode): string[] {
  return [
    ...listed(node).map(({ name }) => name),
    ...node.args.slice(0, 1).flatMap(({ choices }) => choices),
    ...node.options.flatMap(({ flags }) => flags),
  ];
}

function ident(name: string): string {
  return name.replaceAll("-", "_");
}

/** Quotes a text as one word for bash, zsh and fish. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}
