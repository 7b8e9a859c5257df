// Builds the pages of lists. A request without `limit` gets the whole list, or an error if the list has more than
// SCAN_ROWS_MAX rows. A list that was cut silently would hide rows (docs/wire.md, "Lists").
import type { Page } from "../contract/common.ts";
import { type Fault, fault } from "../contract/fault.ts";
import { SCAN_ROWS_MAX } from "../contract/limits.ts";
import {
  decodePageToken,
  encodePageToken,
  FOREIGN_PAGE_TOKEN,
  type IdPage,
  LOST_PAGE_TOKEN,
  type PageCursor,
} from "../lib/ids/page-token.ts";

export type PageOutcome<T> = { readonly ok: true; readonly page: Page<T> } | {
  readonly ok: false;
  readonly fault: Fault;
};

/**
 * Returns the number of rows to fetch for `resultsPage`. It is one more than the limit, so that the last row shows
 * whether there are more rows.
 */
export function rowsToFetch(limit: number | undefined): number {
  return (limit ?? SCAN_ROWS_MAX) + 1;
}

/**
 * Returns one page, or the refusal of a list that is too long.
 * @param rows in list order, fetched with `rowsToFetch(limit)`
 * @param limit the `limit` in the request; undefined for the whole list
 * @param cursorOf the cursor of a page that ends at this row
 * @param narrow a filter for the error text, such as "state="; null if there are no filters
 */
export function resultsPage<R, T>(list: {
  rows: readonly R[];
  limit: number | undefined;
  view: (row: R) => T;
  cursorOf: (row: R) => PageCursor;
  narrow: string | null;
}): PageOutcome<T> {
  const { rows, limit, view, cursorOf, narrow } = list;
  if (limit === undefined) {
    return rows.length > SCAN_ROWS_MAX
      ? {
        ok: false,
        fault: scanLimitExceeded(
          `${narrow === null ? "" : `narrow it with ${narrow} or `}read it in pages with limit=`,
        ),
      }
      : { ok: true, page: { items: rows.map(view) } };
  }
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { ok: true, page: { items: shown.map(view), ...(more && { next_page: encodePageToken(cursorOf(last)) }) } };
}

/**
 * Returns a page of records. `read` fetches the rows. For a list that is not ordered by id, `read` returns null if the
 * record in the page token no longer exists.
 */
export async function pageById<R extends { readonly id: string }>(
  query: { readonly limit?: number; readonly page_token?: string },
  read: (at: IdPage) => Promise<readonly R[] | null>,
): Promise<PageOutcome<R>> {
  const { limit, page_token } = query;
  const after = page_token === undefined ? undefined : idOf(page_token);
  if (after === null) {
    return {
      ok: false,
      fault: FOREIGN_PAGE_TOKEN,
    };
  }
  const rows = await read({ after, rows: rowsToFetch(limit) });
  if (rows === null) return { ok: false, fault: LOST_PAGE_TOKEN };
  return resultsPage({ rows, limit, view: (row) => row, cursorOf: ({ id }) => ({ id }), narrow: null });
}

function idOf(page_token: string): string | null {
  const id = decodePageToken(page_token)?.id;
  return typeof id === "string" && UUID.test(id) ? id : null;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns the refusal of a list that is too long. The advice says what the caller can do instead. */
export function scanLimitExceeded(advice: string): Fault {
  const message = `the list holds more than ${SCAN_ROWS_MAX} rows; ${advice}`;
  return fault("bad_request", message, { error_code: "ScanLimitExceeded" });
}
