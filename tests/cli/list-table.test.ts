// Tests the table of a list, and the columns that a narrow terminal shows.
import { expect, test } from "vitest";
import { listTable } from "../../cli/internal/output/list-table.ts";
import type { Column } from "../../cli/internal/table.ts";

type Node = { readonly name: string; readonly role: string; readonly version: string; readonly ready: string };
const ROWS: readonly Node[] = [
  { name: "cn-1", role: "tenant", version: "1.4.0", ready: "yes" },
  { name: "cn-2", role: "edge", version: "1.4.0", ready: "no (an operator disabled it)" },
];
const columns = (stays: boolean): readonly Column<Node>[] => [
  ["NAME", (node) => node.name],
  ["ROLE", (node) => node.role],
  ["VERSION", (node) => node.version],
  ["READY", (node) => node.ready, { stays }],
];
const table = (width: number | null, stays = true) =>
  listTable(columns(stays), ROWS, { wide: false, width, colour: false, headers: true, now_ms: 0 });

test("a wide terminal and a pipe get all columns with whole cells", () => {
  for (const width of [80, null]) {
    expect(table(width)).toEqual({
      hidden: [],
      text: [
        "NAME  ROLE    VERSION  READY",
        "cn-1  tenant  1.4.0    yes",
        "cn-2  edge    1.4.0    no (an operator disabled it)",
      ].join("\n"),
    });
  }
});

test("a narrow terminal truncates cells before it omits a column", () => {
  expect(table(34).text.split("\n")[2]).toBe("cn-2  edge    1.4.0    no (an ope…");
});

test("a very long name is truncated before a column is left out, but a name of usual length is never truncated", () => {
  const named = (name: string, width: number | null) =>
    listTable(columns(false), [{ ...ROWS[0]!, name }, ROWS[1]!], {
      wide: false,
      width,
      colour: false,
      headers: true,
      now_ms: 0,
    });
  const long = "n".repeat(63);
  expect(named(long, 80)).toMatchObject({
    hidden: [],
    text: expect.stringContaining(`${"n".repeat(50)}…  tenant  1.4.0    yes\n`),
  });
  expect(named(long, 60)).toMatchObject({
    hidden: ["READY"],
    text: expect.stringContaining(`${"n".repeat(39)}…  tenant  1.4.0\n`),
  });
  expect(named(long, null).text).toContain(`${long}  tenant`);
  expect(named("n".repeat(38), 50).text).toContain(`${"n".repeat(38)}  tenant\n`);
});

test("a narrower terminal omits the last columns first and the columns with `stays` last, but never the first column", () => {
  expect(table(24)).toEqual({
    hidden: ["VERSION"],
    text: ["NAME  ROLE    READY", "cn-1  tenant  yes", "cn-2  edge    no (an op…"].join("\n"),
  });
  expect(table(24, false).hidden).toEqual(["READY"]);
  expect(table(4).text).toBe("NAME\ncn-1\ncn-2");
});
