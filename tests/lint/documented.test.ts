// What others build on says what it is: each export of the engine, the contract and the pure folder has a docstring.
import { describe, expect, test } from "vitest";
import { type Source, sources } from "./sources.ts";

const EXPORT = /^export (?:declare |abstract |async )*(?:function\*?|type|interface|const|let|class|enum) (\w+)/;
/** A type that is another export's, whole: what documents that one documents it. */
const DERIVED =
  /^export type \w+ = (?:z\.(?:infer|input|output)<typeof \w+>|\(typeof \w+\)\[number\]|keyof typeof \w+|ReturnType<typeof \w+>);$/;
const ONE_LINE = /^export (?:const|type) .*;$/;

/** The lines, without those that only speak to the linter. */
function linesOf({ text }: Source): string[] {
  return text.split("\n").filter((line) => !/^\/\/ deno-lint-ignore/.test(line));
}

/** One docstring may stand above several one-line exports which nothing parts: the ends of a range, a set and its type. */
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
    // Further signatures of a function are told with the first.
    if (name !== before && !DERIVED.test(line) && !isDocumented(lines, at)) found.push(`${file.path}: ${name}`);
    if (line.startsWith("export function")) before = name;
  }
  return found;
}

test("each export of actors/engine, src/contract and src/lib says what it is, in a docstring above it", () => {
  const files = sources(["actors/engine", "src/contract", "src/lib"]);
  expect(files.length).toBeGreaterThan(60);
  expect(files.flatMap(undocumented)).toEqual([]);
});

describe("the rule itself", () => {
  const of = (text: string) => undocumented({ path: "x.ts", text });

  test.each([
    "export const LIMIT = 1;",
    "// The limit.\nexport const LIMIT = 1;",
    "/** The limit. */\n\nexport const LIMIT = 1;",
    "/** A view. */\nexport const View = z.object({\n});\nexport type View = z.infer<typeof View>;\nexport const LIMIT = 1;",
    "export async function LIMIT() {}",
  ])("catches: %j", (text) => {
    expect(of(text)).toEqual(["x.ts: LIMIT"]);
  });

  test.each([
    "/** The ends. */\nexport const LOW = 1;\nexport const HIGH = 2;",
    "/** A view. */\nexport const View = z.object({\n});\nexport type View = z.infer<typeof View>;",
    "/** The words. */\nexport const WORDS = [\n] as const;\nexport type Word = (typeof WORDS)[number];",
    "/** Reads. */\nexport function read(text: string): string;\nexport function read(text: null): null;",
    "/** Any. */\n// deno-lint-ignore no-explicit-any -- why\nexport type Anything = any;",
    "const own = 1;",
  ])("lets pass: %j", (text) => {
    expect(of(text)).toEqual([]);
  });
});
