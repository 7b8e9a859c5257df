// CSV leaves out the column AGE (cli/internal/output/output.ts), so the time must be in another column of the list.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const FOLDER = new URL("../../cli/", import.meta.url);
/** A column of a list: its title and the function that returns its cell. */
const COLUMN = /^ +\["([A-Z_0-9]+)", (.+?)(?:, [A-Z_]+)?\],$/gm;

const lists = readdirSync(fileURLToPath(FOLDER), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => ({ path, columns: [...readFileSync(new URL(path, FOLDER), "utf8").matchAll(COLUMN)] }))
  .map(({ path, columns }) => ({ path, columns: columns.map(([, title = "", cell = ""]) => ({ title, cell })) }))
  .filter(({ columns }) => columns.some(({ title }) => title === "AGE"));

test.each(lists)("the list in cli/$path has the time of AGE in another column", ({ columns }) => {
  const of = (title: string) => columns.filter((column) => column.title === title);
  for (const { cell } of of("AGE")) {
    expect(columns.filter((column) => column.cell === cell).map(({ title }) => title)).not.toEqual(["AGE"]);
  }
});

test("the lists with a column AGE are found", () => {
  expect(lists.length).toBeGreaterThanOrEqual(20);
});
