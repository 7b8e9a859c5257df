// The papers of the project, and the commands that they name: in blocks, indented lines and between backquotes.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow } from "../lint/sources.ts";
import { ROOT } from "./run.ts";

export type Named = { readonly place: string; readonly argv: readonly string[] };

const AT_THE_TOP = ["README.md", "CONTRIBUTING.md"];
const FOLDERS = ["docs", "cli", "booter", "index-builder", "tests"];

export const PAPERS: readonly string[] = [...AT_THE_TOP, ...filesBelow(FOLDERS, ".md")];

export function textOf(paper: string): string {
  return readFileSync(join(ROOT, paper), "utf8");
}

/** What a paper says in the form of code, each with the line that it begins at. A command's further lines belong to it. */
export function codeOf(paper: string): { readonly line: number; readonly text: string }[] {
  const found: { line: number; text: string }[] = [];
  let fence: string | null = null;
  const lines = textOf(paper).split("\n");
  for (const [index, line] of lines.entries()) {
    const mark = /^```(\w*)$/.exec(line);
    if (mark !== null) {
      fence = fence === null ? mark[1]! : null;
    } else if (fence === "text") {
      continue;
    } else if (fence !== null || /^ {4}\S/.test(line)) {
      const before = found.at(-1);
      if (before !== undefined && lines[index - 1]?.endsWith("\\")) {
        before.text = before.text.slice(0, -1) + line.trim();
      } else found.push({ line: index + 1, text: line.trim() });
    } else {
      for (const [, text = ""] of line.matchAll(/`([^`]+)`/g)) found.push({ line: index + 1, text });
    }
  }
  return found;
}

/** Every command that begins with one of these words, as the words behind it; the comment of its line is left out. */
export function commandsOf(paper: string, programs: readonly string[]): (Named & { readonly program: string })[] {
  const start = new RegExp(`(?:^|[\\s("$;|]|dist/)(${programs.join("|")}) ([^|;<>&)#]*)`, "g");
  return codeOf(paper).flatMap(({ line, text }) =>
    [...text.matchAll(start)].map(([, program = "", rest = ""]) => ({
      place: `${paper}:${line}`,
      program,
      argv: rest.trim().split(/\s+/).filter((word) => word !== ""),
    }))
  );
}
