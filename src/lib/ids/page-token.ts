// The opaque `page_token` of a paged list: where the page before ended, as base64url of JSON. It is no secret and not
// signed: it only says where to go on, and the list's own rights and filters decide what can be seen from there.

/** The sort key of the last row of a page. */
export type PageCursor = Readonly<Record<string, string | number>>;

/** Where a list that is in the order of ids goes on, and how many rows it takes. */
export type IdPage = { readonly after: string | undefined; readonly rows: number };

/** @returns 1 to a few hundred base64url characters */
export function encodePageToken(cursor: PageCursor): string {
  const bytes = new TextEncoder().encode(JSON.stringify(cursor));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/(?<!=)=+$/, "");
}

/** Reads a token back; null when it is not one that `encodePageToken` makes. The caller checks names and values. */
export function decodePageToken(token: string): PageCursor | null {
  if (!/^[A-Za-z0-9_-]+$/.test(token)) return null;
  try {
    const binary = atob(token.replaceAll("-", "+").replaceAll("_", "/"));
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(binary, (c) => c.charCodeAt(0)));
    const cursor: unknown = JSON.parse(text);
    return isCursor(cursor) && encodePageToken(cursor) === token ? cursor : null;
  } catch {
    // atob, the decoder and the parser each throw on garbage: that is the expected answer to a made-up token.
    return null;
  }
}

function isCursor(value: unknown): value is PageCursor {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((part) => typeof part === "string" || typeof part === "number");
}
