// The opaque `page_token` of a paged list: the end of the previous page, as base64url of JSON. It is neither secret nor
// signed: it only gives the position, and the list's own permissions and filters decide which rows are visible.

/** The sort key of the last row of a page. */
export type PageCursor = Readonly<Record<string, string | number>>;

/** The start and the number of rows of a page, in a list that is sorted by id. */
export type IdPage = { readonly after: string | undefined; readonly rows: number };

/** @returns 1 to a few hundred base64url characters */
export function encodePageToken(cursor: PageCursor): string {
  const bytes = new TextEncoder().encode(JSON.stringify(cursor));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/(?<!=)=+$/, "");
}

/** Decodes a token; null when `encodePageToken` cannot have made it. The caller checks names and values. */
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
