// Writes the man page of a command and its subcommands.
import type { ArgumentNode, CommandNode, OptionNode } from "../framework.ts";
import { bold, line, macro, words } from "./roff.ts";

export type Entry = readonly [term: string, text: string];

export type PageSource = {
  readonly name: string;
  /** 1 for commands, 8 for daemons. */
  readonly section: 1 | 8;
  readonly version: string;
  /** Date of the page in the form 2026-11-21. */
  readonly date: string;
  /** The words that the user types, up to `node`: `opsctl cn`. */
  readonly typed: string;
  readonly node: CommandNode;
  /** Further sections after the commands. */
  readonly more: readonly (readonly [title: string, entries: readonly Entry[]])[];
  /** Whether subcommands are described in full, or only by name and summary. */
  readonly whole: boolean;
  readonly see: readonly string[];
};

export type Page = { readonly name: string; readonly section: 1 | 8; readonly text: string };

export function manualPage(source: PageSource): Page {
  const { name, section, version, date, typed, node, whole } = source;
  const children = listed(node);
  const commands = whole
    ? children.flatMap((child) => commandLines(child, `${typed} ${child.name}`))
    : nameLines(children);
  const lines = [
    // The hyphens of the date are not escaped, because formatters read the text as a date.
    [macro("TH", name.toUpperCase(), String(section)), date, `"${words(`Berth ${version}`)}"`, "Berth"].join(" "),
    ".SH NAME",
    `${words(name)} \\- ${words(node.summary)}`,
    ".SH SYNOPSIS",
    `${bold(typed)} ${words(usage(node))}`,
    ".SH DESCRIPTION",
    line(`${node.summary}.`),
    ...titled("ARGUMENTS", argumentLines(node.args)),
    ...titled("OPTIONS", optionLines(node.options)),
    ...titled("COMMANDS", commands),
    ...source.more.flatMap(([title, entries]) => titled(title, entries.flatMap(entryLines))),
    ...titled("SEE ALSO", source.see.length === 0 ? [] : [line(source.see.join(", "))]),
  ];
  return { name, section, text: `${lines.join("\n")}\n` };
}

/** Returns the subcommands to show, without hidden ones and `help`. */
export function listed(node: CommandNode): readonly CommandNode[] {
  return node.children.filter(({ name, hidden }) => !hidden && name !== "help");
}

function usage(node: CommandNode): string {
  const words = node.args.map(({ name, required, variadic }) => {
    const shown = `${name}${variadic ? "..." : ""}`;
    return required ? `<${shown}>` : `[${shown}]`;
  });
  return ["[options]", ...(listed(node).length > 0 ? ["<command>"] : []), ...words].join(" ");
}

function titled(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [macro("SH", title), ...lines];
}

function nameLines(children: readonly CommandNode[]): string[] {
  return children.flatMap(({ name, summary }) => entryLines([name, summary]));
}

function commandLines(node: CommandNode, typed: string): string[] {
  // Every command has --help; the page lists it once.
  const options = node.options.filter(({ flags }) => !flags.includes("--help"));
  return [
    macro("SS", typed),
    ...(listed(node).length > 0 ? [] : [`${bold(typed)} ${words(usage(node))}`, ".PP"]),
    line(`${node.summary}.`),
    ...argumentLines(node.args),
    ...optionLines(options),
    ...(node.example === null ? [] : [".PP", "Example:", bold(node.example)]),
    ...listed(node).flatMap((child) => commandLines(child, `${typed} ${child.name}`)),
  ];
}

function argumentLines(args: readonly ArgumentNode[]): string[] {
  return args.flatMap(({ name, summary, choices }) => entryLines([name, joined([summary, choicesText(choices)])]));
}

function optionLines(options: readonly OptionNode[]): string[] {
  return options.flatMap(({ text, summary, choices, mandatory, default_text }) => {
    const standard = default_text === null ? "" : `default: ${default_text}`;
    return entryLines([text, joined([summary, choicesText(choices), mandatory ? "required" : "", standard])]);
  });
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("; ");
}

function choicesText(choices: readonly string[]): string {
  return choices.length === 0 ? "" : `one of ${choices.join(", ")}`;
}

function entryLines([term, text]: Entry): string[] {
  return [".TP", bold(term), text === "" ? "\\&" : line(text)];
}
