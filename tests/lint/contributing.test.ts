// CONTRIBUTING is what a newcomer reads first: its path through the code is short and there, its tables know the folders.
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { CODE_FOLDERS, readText, ROOT } from "./sources.ts";

const READING_LINES_MAX = 600;
const paper = readText("CONTRIBUTING.md");

/** What the paper has under a heading, to the next one. */
function section(heading: string): string {
  const [, rest = ""] = paper.split(`## ${heading}\n`);
  return rest.split(/^## /m)[0] ?? "";
}

/** Targets of links, from the root; addresses of the web are left out. */
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

  test("is files that are there, under 600 lines together", () => {
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

  test("every folder of the tables is there", () => {
    const missing = named.filter((name) => !name.includes("KIND") && !existsSync(join(ROOT, name)));
    expect(missing).toEqual([]);
  });

  test("every folder of src has a row, and so have those around it", () => {
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

  test("every folder of cli has a row, or is an executable that the row of cli names", () => {
    const executables = rows.find((row) => row.startsWith("| `cli` ")) ?? "";
    const unknown = foldersIn("cli").filter((name) =>
      !named.includes(`cli/${name}`) && !new RegExp(`\\b${name}\\b`).test(executables)
    );
    expect(unknown).toEqual([]);
  });

  test("every folder of tests has a row, or the name of what it proves", () => {
    const proved = new Set<string>([...CODE_FOLDERS, ...CODE_FOLDERS.flatMap(foldersIn)]);
    expect(foldersIn("tests").filter((name) => !named.includes(`tests/${name}`) && !proved.has(name))).toEqual([]);
  });
});
