// Encodes and decodes the `page_token` of a paged list. The token is the position of the last row of the previous page,
// as JSON in base64url. The token is not secret and not signed, because it contains only a position. The list's
// permissions and filters decide which rows are visible.
import { badRequest } from "../../contract/fault.ts";

/** The 400 for a token that `encodePageToken` did not create for this list. */
export const FOREIGN_PAGE_TOKEN = badRequest(
  "page_token: does not belong to this list; use the next_page of its previous page",
);

/** The 400 for a token whose position is unknown, because the row that defined it does not exist. */
export const LOST_PAGE_TOKEN = badRequest(
  "page_token: the last entry of the previous page was not found, perhaps because it was deleted; " +
    "read the list from the start",
);

/** The sort key of the last row of a page. */
export type PageCursor = Readonly<Record<string, string | number>>;

/**
 * A page of a list that is sorted by id: `after` is the last id of the previous page, `rows` the maximum number of
 * rows.
 */
export type IdPage = { readonly after: string | undefined; readonly rows: number };

/** @returns a token with at most a few hundred base64url characters */
export function encodePageToken(cursor: PageCursor): string {
  const bytes = new TextEncoder().encode(JSON.stringify(cursor));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/(?<!=)=+$/, "");
}

/**
 * Decodes a token. Returns null if `encodePageToken` cannot have created it. The caller must check the names and
 * values.
 */
export function decodePageToken(token: string): PageCursor | null {
  if (!/^[A-Za-z0-9_-]+$/.test(token)) return null;
  try {
    const binary = atob(token.replaceAll("-", "+").replaceAll("_", "/"));
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(binary, (c) => c.charCodeAt(0)));
    const cursor: unknown = JSON.parse(text);
    return isCursor(cursor) && encodePageToken(cursor) === token ? cursor : null;
  } catch {
    // atob, the decoder and the parser throw on an invalid token, which is expected.
    return null;
  }
}

function isCursor(value: unknown): value is PageCursor {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((part) => typeof part === "string" || typeof part === "number");
}
