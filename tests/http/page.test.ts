// Tests how a list is divided into pages.
import { expect, test } from "vitest";
import { SCAN_ROWS_MAX } from "../../src/contract/limits.ts";
import { resultsPage, rowsToFetch } from "../../src/http/page.ts";
import { decodePageToken } from "../../src/lib/ids/page-token.ts";

const rows = (count: number) => Array.from({ length: count }, (_, n) => ({ n }));
const list = (count: number, limit?: number) =>
  resultsPage({
    rows: rows(count).slice(0, rowsToFetch(limit)),
    limit,
    view: ({ n }) => `row ${n}`,
    cursorOf: ({ n }) => ({ n }),
    narrow: "state=",
  });

test("without a limit, a list of the maximum length is complete, and a longer list is refused", () => {
  const whole = list(SCAN_ROWS_MAX);
  expect(whole.ok && [whole.page.items.length, "next_page" in whole.page]).toEqual([SCAN_ROWS_MAX, false]);
  expect(list(SCAN_ROWS_MAX + 1)).toEqual({
    ok: false,
    fault: {
      kind: "bad_request",
      error_code: "ScanLimitExceeded",
      message: "the list holds more than 10000 rows; narrow it with state= or read it in pages with limit=",
    },
  });
});

test("with a limit, the next page starts after the last row shown, and the last page has no next_page", () => {
  const first = list(3, 2);
  if (!first.ok) throw new Error("refused");
  expect(first.page.items).toEqual(["row 0", "row 1"]);
  expect(decodePageToken(first.page.next_page!)).toEqual({ n: 1 });
  expect(list(2, 2)).toEqual({ ok: true, page: { items: ["row 0", "row 1"] } });
  expect(list(0, 2)).toEqual({ ok: true, page: { items: [] } });
});

test("with a limit, a list of more rows than the maximum length is returned in pages", () => {
  const page = list(SCAN_ROWS_MAX * 2, 1_000);
  expect(page.ok && page.page.items.length).toBe(1_000);
});
