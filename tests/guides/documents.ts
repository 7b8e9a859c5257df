// Finds the documents of the project, and the commands in them. Commands are in blocks, in indented lines and between
// backquotes.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow } from "../lint/sources.ts";
import { ROOT } from "./run.ts";

export type Named = { readonly place: string; readonly argv: readonly string[] };

const AT_THE_TOP = ["README.md", "CONTRIBUTING.md"];
const FOLDERS = ["docs", "cli", "booter", "index-builder", "tests"];

export const DOCUMENTS: readonly string[] = [...AT_THE_TOP, ...filesBelow(FOLDERS, ".md")];

export function textOf(document: string): string {
  return readFileSync(join(ROOT, document), "utf8");
}

/**
 * Returns the pieces of code in a document, each with the number of its first line. A continuation line is a part of
 * its command.
 */
export function codeOf(document: string): { readonly line: number; readonly text: string }[] {
  const found: { line: number; text: string }[] = [];
  let fence: string | null = null;
  const lines = textOf(document).split("\n");
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

/** Returns the arguments of every command of these programs, without comments. */
export function commandsOf(document: string, programs: readonly string[]): (Named & { readonly program: string })[] {
  const start = new RegExp(`(?:^|[\\s("$;|]|dist/)(${programs.join("|")}) ([^|;<>&)#]*)`, "g");
  return codeOf(document).flatMap(({ line, text }) =>
    [...text.matchAll(start)].map(([, program = "", rest = ""]) => ({
      place: `${document}:${line}`,
      program,
      argv: rest.trim().split(/\s+/).filter((word) => word !== ""),
    }))
  );
}
