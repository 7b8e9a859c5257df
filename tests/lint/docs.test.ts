// The documents in docs/: state tables and numbers equal the code, links lead to files, and the lists of rules and
// invariants are complete.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { pages } from "../../docs/print.ts";
import * as limits from "../../src/contract/limits.ts";
import { OUTSIDE } from "../../src/doctor/invariants.ts";
import { filesBelow, readText, ROOT } from "./sources.ts";

const DOCUMENTS = pages();

test("the documents are there", () => {
  expect(DOCUMENTS.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["glossary.md", "instances.md", "nodes.md", "reliability.md", "wire.md"]),
  );
});

test.each(DOCUMENTS)(
  "the tables and numbers of $name are printed from the code (run `task docs`)",
  ({ text, printed }) => {
    expect(text).toBe(printed);
  },
);

test.each(DOCUMENTS)("every link of $name leads to a file", ({ name, text }) => {
  const targets = [...text.matchAll(/\]\(([^)#]+)/g)].map(([, target = ""]) => target)
    .filter((target) => !/^\w+:/.test(target)).map((target) => join(dirname(join("docs", name)), target));
  expect(targets.filter((target) => !existsSync(join(ROOT, target)))).toEqual([]);
});

test("docs/limits.md lists every number of the contract, with its reason", () => {
  const text = readText("docs/limits.md").replace(/\s+/g, " ");
  const numbers = Object.entries(limits).filter(([, value]) => typeof value === "number").map(([name]) => name);
  expect(numbers.length).toBeGreaterThan(100);
  expect(numbers.filter((name) => !new RegExp(`\`${name}\` \\*\\*[^:]*: \\S+ \\S+`).test(text))).toEqual([]);
});

describe("docs/reliability.md", () => {
  const text = readText("docs/reliability.md");
  const listed = (prefix: string) =>
    [...text.matchAll(new RegExp(`^\\| (${prefix}-\\w+) `, "gm"))].map(([, id = ""]) => id);

  test("lists every invariant that the doctor knows", () => {
    const known = filesBelow(["src/doctor"], ".ts").flatMap((path) =>
      [...readText(path).matchAll(/"(INV-\d+b?)"/g)].map(([, id = ""]) => id)
    );
    expect(known.length).toBeGreaterThan(10);
    expect([...new Set([...known, ...OUTSIDE.map(({ id }) => id)])].filter((id) => !listed("INV").includes(id)))
      .toEqual([]);
  });

  test("lists every security rule that a test names", () => {
    const named = filesBelow(["tests"], ".ts").flatMap((path) =>
      [...readText(path).matchAll(/\bS-(\d\d)\b/g)].map(([id]) => id)
    );
    expect(named.length).toBeGreaterThan(30);
    expect([...new Set(named)].filter((id) => !listed("S").includes(id)).sort()).toEqual([]);
  });
});
