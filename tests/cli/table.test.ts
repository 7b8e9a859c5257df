// Tests the tables and other texts that commands print.
import { expect, test } from "vitest";
import { plainJson, plainText } from "../../cli/internal/plain-text.ts";
import { blockText, tableText, textWidth } from "../../cli/internal/table.ts";

const COLUMNS = [["NAME", (row: string[]) => row[0]], ["VALUE", (row: string[]) => row[1]]] as const;

test("columns are as wide as their widest cell, two spaces apart, without trailing spaces", () => {
  expect(tableText(COLUMNS, [["a", "1"], ["longer", ""]])).toBe("NAME    VALUE\na       1\nlonger  -");
});

test("an identifier is never truncated", () => {
  const id = "x".repeat(500);
  expect(tableText(COLUMNS, [[id, "1"]])).toContain(id);
});

test("wide and combining characters keep the columns aligned", () => {
  expect(textWidth("日本")).toBe(4);
  expect(textWidth("e\u0301")).toBe(1);
  expect(tableText(COLUMNS, [["日本", "1"], ["abcd", "2"]])).toBe("NAME  VALUE\n日本  1\nabcd  2");
});

test("the table shows escape sequences, line breaks and direction marks as text", () => {
  const hostile = "a\u001b[31mred\r\nb\u009b2J\u202eevil\u0000";
  const shown = tableText(COLUMNS, [[hostile, "1"]]);
  expect(shown.split("\n")).toHaveLength(2);
  // deno-lint-ignore no-control-regex -- this pattern must match control bytes
  expect(shown.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  expect(shown).toContain("a\\x1b[31mred\\r\\nb\\x9b2J\\u202eevil\\x00");
});

test("plainText does not change ordinary text", () => {
  expect(plainText("Größe 日本 ~!")).toBe("Größe 日本 ~!");
});

test("JSON output parses to the same value and has no unsafe characters", () => {
  const value = { "k\u009b": ["\u001b[2J", "\u202e", "plain\n"], n: null };
  const text = plainJson(value);
  expect(JSON.parse(text)).toEqual(value);
  expect(text).not.toMatch(/[\u007f-\u009f\u202e]/);
});

test("blockText aligns the values and prints - for an unset value", () => {
  expect(blockText([["a", 1], ["longer", null], ["no", false]])).toBe("a:       1\nlonger:  -\nno:      false");
});

test("the header is bold only with the option for a bold header", () => {
  expect(tableText(COLUMNS, [], true)).toBe("\u001b[1mNAME  VALUE\u001b[22m");
  expect(tableText(COLUMNS, [])).toBe("NAME  VALUE");
});
