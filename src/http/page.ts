// Lists. Without `limit` a list is whole or refused: silently ending at a cap has hidden rows from people before.
// With `limit` it is paged. Document 4, Fixed here, Lists; 0.2 ScanLimitExceeded.
import type { Page } from "../contract/common.ts";
import { badRequest, type Fault, fault } from "../contract/fault.ts";
import { SCAN_ROWS_MAX } from "../contract/limits.ts";
import { decodePageToken, encodePageToken, type IdPage, type PageCursor } from "../lib/ids/page-token.ts";

export type PageOutcome<T> = { readonly ok: true; readonly page: Page<T> } | {
  readonly ok: false;
  readonly fault: Fault;
};

/** How many rows a query has to fetch so that `resultsPage` can tell whether there are more: one above the limit. */
export function rowsToFetch(limit: number | undefined): number {
  return (limit ?? SCAN_ROWS_MAX) + 1;
}

/**
 * @param rows in list order, fetched with `rowsToFetch(limit)`
 * @param limit the caller's, or undefined for the whole list
 * @param cursorOf where a page that ends at this row ends
 * @param narrow how to ask for less, for the refusal: "state="; null when there is no way
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
      ? { ok: false, fault: scanLimitExceeded(narrow) }
      : { ok: true, page: { items: rows.map(view) } };
  }
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { ok: true, page: { items: shown.map(view), ...(more && { next_page: encodePageToken(cursorOf(last)) }) } };
}

/** A page of records in the order of their ids: `read` fetches what the query asks for. */
export async function pageById<R extends { readonly id: string }>(
  query: { readonly limit?: number; readonly page_token?: string },
  read: (at: IdPage) => Promise<readonly R[]>,
): Promise<PageOutcome<R>> {
  const { limit, page_token } = query;
  const after = page_token === undefined ? undefined : idOf(page_token);
  if (after === null) return { ok: false, fault: badRequest("page_token: is not one of this list") };
  const rows = await read({ after, rows: rowsToFetch(limit) });
  return resultsPage({ rows, limit, view: (row) => row, cursorOf: ({ id }) => ({ id }), narrow: null });
}

function idOf(page_token: string): string | null {
  const id = decodePageToken(page_token)?.id;
  return typeof id === "string" && UUID.test(id) ? id : null;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function scanLimitExceeded(narrow: string | null): Fault {
  const less = narrow === null ? "" : `narrow it with ${narrow} or `;
  const message = `the list holds more than ${SCAN_ROWS_MAX} rows; ${less}read it in pages with limit=`;
  return fault("bad_request", message, { error_code: "ScanLimitExceeded" });
}
