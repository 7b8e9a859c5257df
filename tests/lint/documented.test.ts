// Checks that each export of the engine, the contract and src/lib has a docstring.
import { describe, expect, test } from "vitest";
import { type Source, sources } from "./sources.ts";

const EXPORT = /^export (?:declare |abstract |async )*(?:function\*?|type|interface|const|let|class|enum) (\w+)/;
/** A type that is derived from another export. The docstring of that export is enough. */
const DERIVED =
  /^export type \w+ = (?:z\.(?:infer|input|output)<typeof \w+>|\(typeof \w+\)\[number\]|keyof typeof \w+|ReturnType<typeof \w+>);$/;
const ONE_LINE = /^export (?:const|type) .*;$/;

/** Returns the lines except comments that instruct the linter. */
function linesOf({ text }: Source): string[] {
  return text.split("\n").filter((line) => !/^\/\/ deno-lint-ignore/.test(line));
}

/**
 * Returns whether the export in a line has a docstring. Adjacent one-line exports may share a docstring, such as the
 * ends of a range.
 */
function isDocumented(lines: readonly string[], at: number): boolean {
  const above = lines[at - 1] ?? "";
  return /\*\/$/.test(above) || (ONE_LINE.test(above) && isDocumented(lines, at - 1));
}

function undocumented(file: Source): string[] {
  const lines = linesOf(file);
  const found: string[] = [];
  let before = "";
  for (const [at, line] of lines.entries()) {
    const name = EXPORT.exec(line)?.[1];
    if (name === undefined) continue;
    // Overloads share the docstring of the first signature.
    if (name !== before && !DERIVED.test(line) && !isDocumented(lines, at)) found.push(`${file.path}: ${name}`);
    if (line.startsWith("export function")) before = name;
  }
  return found;
}

test("each export of actors/engine, src/contract and src/lib has a docstring", () => {
  const files = sources(["actors/engine", "src/contract", "src/lib"]);
  expect(files.length).toBeGreaterThan(60);
  expect(files.flatMap(undocumented)).toEqual([]);
});

describe("the rule", () => {
  const of = (text: string) => undocumented({ path: "x.ts", text });

  test.each([
    "export const LIMIT = 1;",
    "// The limit.\nexport const LIMIT = 1;",
    "/** The limit. */\n\nexport const LIMIT = 1;",
    "/** A view. */\nexport const View = z.object({\n});\nexport type View = z.infer<typeof View>;\nexport const LIMIT = 1;",
    "export async function LIMIT() {}",
  ])("rejects %j", (text) => {
    expect(of(text)).toEqual(["x.ts: LIMIT"]);
  });

  test.each([
    "/** The ends. */\nexport const LOW = 1;\nexport const HIGH = 2;",
    "/** A view. */\nexport const View = z.object({\n});\nexport type View = z.infer<typeof View>;",
    "/** The words. */\nexport const WORDS = [\n] as const;\nexport type Word = (typeof WORDS)[number];",
    "/** Reads. */\nexport function read(text: string): string;\nexport function read(text: null): null;",
    "/** Any. */\n// deno-lint-ignore no-explicit-any -- why\nexport type Anything = any;",
    "const own = 1;",
  ])("accepts %j", (text) => {
    expect(of(text)).toEqual([]);
  });
});
