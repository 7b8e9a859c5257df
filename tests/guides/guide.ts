// Reads a guide as a program. The program is the guide's ```sh blocks in their order, each with the expected output in
// the ```text block after it.

export type Block = {
  readonly line: number;
  readonly script: string;
  /** The lines of the expected output in order, or null if the guide shows no output. */
  readonly shown: readonly string[] | null;
};

type Fence = {
  readonly line: number;
  readonly language: string;
  readonly lines: readonly string[];
  readonly end: number;
};

/** Returns the blocks of a guide. Throws an Error for a fence that is never closed. */
export function blocksOf(markdown: string): Block[] {
  const fences = fencesOf(markdown);
  return fences.flatMap((fence, index) => {
    if (fence.language !== "sh") return [];
    const next = fences[index + 1];
    const follows = next?.language === "text" && between(markdown, fence.end, next.line).trim() === "";
    return [{ line: fence.line, script: fence.lines.join("\n"), shown: follows ? next.lines : null }];
  });
}

/** Returns the texts of all blocks in this language, such as the settings of a program. */
export function settingsIn(markdown: string, language: string): string[] {
  return fencesOf(markdown).filter((fence) => fence.language === language).map(({ lines }) => lines.join("\n"));
}

function fencesOf(markdown: string): Fence[] {
  const lines = markdown.split("\n");
  const fences: Fence[] = [];
  for (let at = 0; at < lines.length; at++) {
    const language = /^```(\w+)$/.exec(lines[at]!)?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf("```", at + 1);
    if (end < 0) throw new Error(`the block of line ${at + 1} is never closed`);
    fences.push({ line: at + 1, language, lines: lines.slice(at + 1, end), end: end + 1 });
    at = end;
  }
  return fences;
}

function between(markdown: string, after_line: number, before_line: number): string {
  return markdown.split("\n").slice(after_line, before_line - 1).join("\n");
}

/**
 * Returns the first expected line that is missing from the output or out of order, or null. `...` matches any lines.
 */
export function missingLine(shown: readonly string[], output: string): string | null {
  const had = output.split("\n").map(loose);
  let at = 0;
  for (const line of shown.filter((each) => each.trim() !== "" && each.trim() !== "...")) {
    const found = had.indexOf(loose(line), at);
    if (found < 0) return line;
    at = found + 1;
  }
  return null;
}

/**
 * Replaces the parts of an output that differ between runs: ids, times, keys, codes, hashes, numbers and the width of
 * columns.
 */
function loose(line: string): string {
  return line
    .replace(/\bopsk_[\w-]{45}/g, "<key>")
    .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "<id>")
    .replace(/\b[0-9a-f]{64}\b/g, "<hash>")
    .replace(/\b[0-9A-HJKMNP-TV-Z]{3}-[0-9A-HJKMNP-TV-Z]{3}\b/g, "<code>")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replace(/\d+(?:\.\d+)?/g, "<number>")
    .replace(/\s+/g, " ")
    .trim();
}
