// CONTRIBUTING is for newcomers: its reading path is short, and its tables list every folder.
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { CODE_FOLDERS, readText, ROOT } from "./sources.ts";

const READING_LINES_MAX = 600;
const contributing = readText("CONTRIBUTING.md");

/** Returns the text of a section. */
function section(heading: string): string {
  const [, rest = ""] = contributing.split(`## ${heading}\n`);
  return rest.split(/^## /m)[0] ?? "";
}

/** Returns the targets of links as paths from the root, without web addresses. */
function linksOf(text: string, from: string): string[] {
  return [...text.matchAll(/\]\(([^)#]+)/g)].map(([, target = ""]) => target)
    .filter((target) => !/^\w+:/.test(target)).map((target) => join(dirname(from), target));
}

function foldersIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "__snapshots__").map(({ name }) => name);
}

describe("the reading path", () => {
  const path = section("Start reading here").split("\n").filter((line) => /^\d\. /.test(line)).join("\n");

  test("has fewer than 600 lines in at least five files", () => {
    const files = linksOf(path, "CONTRIBUTING.md");
    expect(files.length).toBeGreaterThanOrEqual(5);
    const lines = files.map((file) => readText(file).split("\n").length - 1);
    expect(lines.reduce((sum, each) => sum + each, 0)).toBeLessThan(READING_LINES_MAX);
  });
});

describe("where things live", () => {
  const rows = section("Where things live").split("\n").filter((line) => line.startsWith("| `"));
  const named = rows.flatMap((row) =>
    [...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name)
  );

  test("every folder in the tables exists", () => {
    const missing = named.filter((name) => !name.includes("KIND") && !existsSync(join(ROOT, name)));
    expect(missing).toEqual([]);
  });

  test("every folder of src, and booter, cli, index-builder, migrations, nodeagent and tests, have a row", () => {
    const folders = [
      "booter",
      "cli",
      "index-builder",
      "migrations",
      "nodeagent",
      "tests",
      ...foldersIn("src").map((name) => `src/${name}`),
    ];
    expect(folders.filter((folder) => !named.includes(folder))).toEqual([]);
  });

  test("every folder of cli has a row, or is an executable in the row of cli", () => {
    const executables = rows.find((row) => row.startsWith("| `cli` ")) ?? "";
    const unknown = foldersIn("cli").filter((name) =>
      !named.includes(`cli/${name}`) && !new RegExp(`\\b${name}\\b`).test(executables)
    );
    expect(unknown).toEqual([]);
  });

  test("every folder of tests has a row, or has the name of the folder whose code it tests", () => {
    const tested = new Set<string>([...CODE_FOLDERS, ...CODE_FOLDERS.flatMap(foldersIn)]);
    expect(foldersIn("tests").filter((name) => !named.includes(`tests/${name}`) && !tested.has(name))).toEqual([]);
  });
});
