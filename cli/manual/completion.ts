// Writes the completion scripts for packages. The script of a program with the command `completion` calls the program's
// hidden command `__complete`. The other programs have no values that only a server knows, so their script contains the
// whole command tree.
import type { CommandNode, OptionNode } from "../framework.ts";
import { COMPLETION_SCRIPTS } from "../internal/completion-scripts.ts";
import { listed } from "./page.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** A command, and the words between the program's name and the command. */
type Place = { readonly words: readonly string[]; readonly node: CommandNode };

export function completionScript(shell: Shell, tree: CommandNode): { readonly path: string; readonly text: string } {
  const { name } = tree;
  const asks = listed(tree).some((child) => child.name === "completion");
  const text = asks
    ? COMPLETION_SCRIPTS[shell].script.replaceAll("opsctl", name)
    : WRITERS[shell](name, placesOf(tree));
  return { path: `completion/${shell}/${FILE_NAMES[shell](name)}`, text: `${text}\n` };
}

/** File names that the shells look for. */
const FILE_NAMES = {
  bash: (name: string) => name,
  zsh: (name: string) => `_${name}`,
  fish: (name: string) => `${name}.fish`,
} as const satisfies Readonly<Record<Shell, (name: string) => string>>;

const WRITERS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

function placesOf(tree: CommandNode): Place[] {
  const below = (place: Place): Place[] => [
    place,
    ...listed(place.node).flatMap((node) => below({ words: [...place.words, node.name], node })),
  ];
  return below({ words: [], node: tree });
}

function bashScript(name: string, places: readonly Place[]): string {
  return `# ${name} completion for bash
_${ident(name)}() {
  local at= word current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
${stepCases(places)}
  done
  case "$at $before" in
${valueCases(places, (choices) => `COMPREPLY=($(compgen -W ${quoted(choices.join(" "))} -- "$current"))`)}
  esac
  case "$at" in
${
    places.map(({ words, node }) =>
      `    ${quoted(at(words))}) COMPREPLY=($(compgen -W ${quoted(wordsAt(node).join(" "))} -- "$current")) ;;`
    ).join("\n")
  }
  esac
}
complete -o default -F _${ident(name)} ${name}`;
}

function zshScript(name: string, places: readonly Place[]): string {
  return `#compdef ${name}
# ${name} completion for zsh
_${ident(name)}() {
  local at= word before=\${words[CURRENT-1]}
  for word in "\${(@)words[2,CURRENT-1]}"; do
${stepCases(places)}
  done
  case "$at $before" in
${valueCases(places, (choices) => `compadd -- ${choices.map(quoted).join(" ")}`, "_files")}
  esac
  case "$at" in
${
    places.map(({ words, node }) =>
      `    ${quoted(at(words))}) compadd -- ${wordsAt(node).map(quoted).join(" ")}; _files ;;`
    )
      .join("\n")
  }
  esac
}
if [ "$funcstack[1]" = "_${ident(name)}" ]; then _${ident(name)} "$@"; else compdef _${ident(name)} ${name}; fi`;
}

function fishScript(name: string, places: readonly Place[]): string {
  const lines = places.flatMap(({ words, node }) => {
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

/** Returns shell cases that follow the finished words down the command tree and skip unknown words. */
function stepCases(places: readonly Place[]): string {
  const cases = places.filter(({ words }) => words.length > 0)
    .map(({ words }) => `${quoted(`${at(words.slice(0, -1))} ${words.at(-1)}`)}) at=${quoted(at(words))} ;;`);
  return `    case "$at $word" in\n${cases.map((each) => `      ${each}`).join("\n")}\n    esac`;
}

/** Returns shell cases that complete the value of an option. */
function valueCases(places: readonly Place[], offer: (choices: readonly string[]) => string, files = ""): string {
  return places.flatMap(({ words, node }) =>
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
