// Fetches a small document from another server: an issuer's discovery document, an issuer's keys, or the tokens for an
// authorization code. Also sends events to webhooks. The fetch runs in this process (fetchDocumentHere) or in a
// separate process (process.ts, remote.ts).
import { joinedBytes } from "../lib/text/joined-bytes.ts";
import { readRanges } from "../lib/net/public-address.ts";
import { fetchOutbound, namedOrigins } from "./connector.ts";

export type DocumentRequest = {
  readonly url: string;
  /** CIDRs of the setting `fetch.allowed_private`. */
  readonly allowed: readonly string[];
  /** URLs in the operator's configuration. Their origins may have private addresses. */
  readonly named: readonly string[];
  /** A form to send with POST. Without it, the document is read with GET. */
  readonly form?: { readonly body: string; readonly authorization: string | null };
  /** An event to send with POST. The body of the answer is not read, so `text` is empty. */
  readonly event?: { readonly body: string; readonly headers: Readonly<Record<string, string>> };
  readonly bytes_max: number;
  readonly total_ms: number;
};
export type FetchedDocument = { readonly status: number; readonly text: string };
export type DocumentFetch = (request: DocumentRequest) => Promise<FetchedDocument>;

/**
 * Fetches in this process. Throws if the address is refused, if the connection fails, or if the response is too long or
 * too slow. Returns a redirect like any other response, without following it.
 */
export const fetchDocumentHere: DocumentFetch = async ({ url, allowed, named, form, event, bytes_max, total_ms }) => {
  const response = await fetchOutbound(url, {
    reach: { allowed: readRanges(allowed), named: namedOrigins(named) },
    headers: event?.headers ?? { accept: "application/json", ...(form !== undefined && formHeaders(form)) },
    body: event?.body ?? form?.body,
    signal: AbortSignal.timeout(total_ms),
  });
  if (event !== undefined) {
    await response.body?.cancel();
    return { status: response.status, text: "" };
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > bytes_max) throw new Error(`${url} returned more than ${bytes_max} bytes`);
    chunks.push(chunk);
  }
  return { status: response.status, text: new TextDecoder().decode(joinedBytes(chunks)) };
};

function formHeaders({ authorization }: NonNullable<DocumentRequest["form"]>): Record<string, string> {
  const type = { "content-type": "application/x-www-form-urlencoded" };
  return authorization === null ? type : { ...type, authorization };
}
