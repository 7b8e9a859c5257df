import { expect, test } from "vitest";
import { NAMES, PATTERNS, refused } from "./plain-english.ts";
import { code, CODE_FOLDERS, filesBelow, readText } from "./sources.ts";

/** Folders and files that are checked. */
const CHECKED: readonly string[] = [
  ...CODE_FOLDERS,
  "migrations/functions",
  "docs",
  "tests",
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
];

const paths = CHECKED.flatMap((each) =>
  each.includes(".") ? [each] : [".ts", ".md", ".sql"].flatMap((end) => filesBelow([each], end))
)
  // Skips the patterns, their examples and the fixtures.
  .filter((path) => !path.startsWith("tests/lint/plain-english") && !path.startsWith("tests/fixtures/"));

test("no text for people uses a refused phrase", () => {
  const found = paths.flatMap((path) =>
    refused(path, readText(path)).map(({ line, text, word, fix }) => `${path}:${line}: "${word}" -> ${fix}: ${text}`)
  );
  expect(found).toEqual([]);
});

test("no identifier has a name that the glossary replaces", () => {
  const found = paths.filter((path) => path.endsWith(".ts")).flatMap((path) => {
    const names = new Set(code(readText(path)).replace(/"[^"\n]*"/g, "").match(/\b[A-Za-z_]\w*\b/g));
    return [...names].flatMap((name) =>
      NAMES.filter(({ pattern }) => pattern.test(name)).map(({ fix }) => `${path}: ${name} -> ${fix}`)
    );
  });
  expect(found).toEqual([]);
});

test.each([
  ["// It stands against what is there.", "stands"],
  ["/** What it does not find is no denial. */", "What"],
  ['const text = "nobody waits for it";', "nobody"],
  ["// Document 2, Limits", "Document 2"],
])("refuses %s", (source, word) => {
  expect(refused("a.ts", source).map((each) => each.word).join()).toContain(word);
});

test("checks the comments of SQL", () => {
  expect(refused("a.sql", "-- Nobody waits.\nselect 'nobody';").map((each) => each.line)).toEqual([1]);
});

test.each(["// A tell arrives twice at most.", "// The server rejects a duplicate name.", 'const path = "what/who";'])(
  "accepts %s",
  (source) => {
    expect(refused("a.ts", source)).toEqual([]);
  },
);

test("every pattern states the replacement", () => {
  expect([...PATTERNS, ...NAMES].filter(({ fix }) => fix === "")).toEqual([]);
});
