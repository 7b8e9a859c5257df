// Tests that the cursor of a list stays on its row while the rows around it change.
import { expect, test } from "vitest";
import { type Cursor, followed, TOP } from "../../console/core/cursor.ts";

/** Returns the place of a cursor after a list changed to these rows. A dot is a row that is not read yet. */
const among = (rows: string, cursor: Cursor): Cursor =>
  followed(cursor, rows.length, (index) => rows[index] === "." ? null : rows[index] ?? null);

test("a new list has its cursor on the first row, as soon as the row is read", () => {
  expect(among("", TOP)).toEqual(TOP);
  expect(among("...", TOP)).toEqual(TOP);
  expect(among("abc", TOP)).toEqual({ index: 0, id: "a" });
});

test("the cursor stays on its row while rows are added and removed on both sides", () => {
  const cursor = { index: 2, id: "c" };
  expect(among("abcd", cursor)).toEqual(cursor);
  expect(among("xyabcd", cursor)).toEqual({ index: 4, id: "c" });
  expect(among("cd", cursor)).toEqual({ index: 0, id: "c" });
  expect(among("dbaxyzc", cursor)).toEqual({ index: 6, id: "c" });
  expect(among("abcdxyz", cursor)).toEqual(cursor);
});

test("after its row is removed, the cursor is on the row that took the place of the removed row, and then stays on that row", () => {
  const next = among("abd", { index: 2, id: "c" });
  expect(next).toEqual({ index: 2, id: "d" });
  expect(among("xabd", next)).toEqual({ index: 3, id: "d" });
  expect(among("ab", { index: 2, id: "c" })).toEqual({ index: 1, id: "b" });
  expect(among("a", { index: 0, id: "a" })).toEqual({ index: 0, id: "a" });
});

test("the cursor keeps its row while the row's part of the list is read again", () => {
  const waiting = among("....", { index: 2, id: "c" });
  expect(waiting).toEqual({ index: 2, id: "c" });
  expect(among("xabc", waiting)).toEqual({ index: 3, id: "c" });
  expect(among("", waiting)).toEqual({ index: 0, id: "c" });
});
