// Checks file names and sizes, and that the tree has no leftovers.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { VERSION } from "../../src/version.ts";
import { code, CODE_FOLDERS, filesBelow, readText, ROOT, sources } from "./sources.ts";

const files = sources(CODE_FOLDERS);
const FOLDERS = [...CODE_FOLDERS, "migrations", "tests"];

describe("names", () => {
  const BANNED = ["util", "utils", "helper", "helpers", "manager", "service", "misc"];

  test("file names are in kebab-case, and no name contains a vague word such as utils", () => {
    const paths = [...filesBelow(FOLDERS, ".ts"), ...filesBelow(FOLDERS, ".tsx")];
    const names = paths.map((path) => ({ path, name: path.split("/").at(-1) ?? "" }));
    const odd = names.filter(({ name }) => !/^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test|\.d)?\.tsx?$/.test(name));
    const banned = names.filter(({ name }) => BANNED.some((word) => name.split(/[-.]/).includes(word)));
    expect([...odd, ...banned].map(({ path }) => path)).toEqual([]);
  });

  test("migrations are numbered without a gap", () => {
    const names = filesBelow(["migrations"], ".sql").filter((path) => /^migrations\/\d/.test(path)).map((path) =>
      path.split("/").at(-1) ?? ""
    );
    for (const [index, name] of names.entries()) {
      expect(name).toMatch(new RegExp(`^${String(index + 1).padStart(4, "0")}_[a-z0-9_]+\\.sql$`));
    }
  });
});

describe("sizes", () => {
  const LINES_MAX = 300;
  /** Files that may be longer, each with the reason why the file is not split. */
  const LONGER: Readonly<Record<string, string>> = {
    "src/contract/enums.ts": "every list of words of the contract, once, so that the programs may import them",
    "src/contract/limits.ts": "every number of the contract, once; docs/limits.md is printed from this file",
  };

  test("no file of actors/, src/ or the executables is longer than 300 lines without a reason", () => {
    const long = files.filter(({ text }) => text.split("\n").length - 1 > LINES_MAX).map(({ path }) => path);
    expect(long.filter((path) => LONGER[path] === undefined)).toEqual([]);
  });

  test("every file in the list of longer files exists", () => {
    for (const path of Object.keys(LONGER)) expect(existsSync(join(ROOT, path))).toBe(true);
  });
});

test("no comment line is longer than the limit for lines of code", () => {
  const { fmt } = JSON.parse(readText("deno.json"));
  const long = sources([...FOLDERS, "docs"]).flatMap(({ path, text }) =>
    text.split("\n").flatMap((line, index) =>
      line.length > fmt.lineWidth && /^\s*(?:\/\/|\/?\*)/.test(line) ? [`${path}:${index + 1}`] : []
    )
  );
  expect(long).toEqual([]);
});

test("only the schema Uuid uses z.guid(), because Uuid also changes an id to lower case", () => {
  const bare = sources(["src/contract"]).filter(({ path, text }) =>
    path !== "src/contract/common.ts" && code(text).includes("z.guid(")
  );
  expect(bare.map(({ path }) => path)).toEqual([]);
});

test("the version in the code is the version in package.json", () => {
  expect(VERSION).toBe(JSON.parse(readText("package.json")).version);
});

describe("documents", () => {
  test.each([["README.md", 1_000], ["CONTRIBUTING.md", 1_000], ["LICENSE", 100]])("%s exists", (path, characters) => {
    expect(readText(path).length).toBeGreaterThan(characters);
  });

  test("every task in the documents exists", () => {
    const { tasks } = JSON.parse(readText("deno.json"));
    const named = ["README.md", "CONTRIBUTING.md"].flatMap((path) =>
      [...readText(path).matchAll(/\btask ([a-z][a-z-]*)(?=[\s`]|$)/gm)].map(([, task = ""]) => task)
    );
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((task) => tasks[task] === undefined)).toEqual([]);
  });
});

describe("leftovers", () => {
  const all = [
    ...sources(FOLDERS),
    ...filesBelow(["migrations"], ".sql").map((path) => ({ path, text: readText(path) })),
  ]
    .filter(({ path }) => !path.startsWith("tests/lint/") && !path.startsWith("tests/fixtures/"));

  test("no file has a TODO", () => {
    expect(all.filter(({ text }) => /\b(?:TODO|FIXME|HACK)\b/.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test("no file names a folder that exists only on a developer's machine", () => {
    const absolute = /["'`( ](?:\/work\/|\/home\/\w|\/Users\/)/;
    expect(all.filter(({ text }) => absolute.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test("no test is skipped or exclusive", () => {
    const off = /\b(?:test|it|describe)\.(?:only|skip|todo)\b|\bx(?:it|describe)\(/;
    expect(all.filter(({ text }) => off.test(code(text))).map(({ path }) => path)).toEqual([]);
  });

  test("the titles of table columns have no blanks, so that awk and cut can read tables", () => {
    const title = /^\s*\["[A-Z]+(?: [A-Z]+)+", (?:\(|async)/m;
    expect(sources(["cli"]).filter(({ text }) => title.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test("every `any` has a reason", () => {
    const bare = all.flatMap(({ path, text }) => {
      const lines = text.split("\n");
      return lines.flatMap((line, index) => {
        if (!/(?::|<|\bas|,)\s*any\b(?!thing)[\s,;>)[|=]/.test(code(line))) return [];
        const above = `${lines[index - 1] ?? ""}${lines[index - 2] ?? ""}`;
        return /no-explicit-any/.test(above) ? [] : [`${path}:${index + 1}`];
      });
    });
    expect(bare).toEqual([]);
  });
});
