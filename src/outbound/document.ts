// A small document of somebody else's server: the discovery document or the keys of an issuer. The same request is served
// in this process (here) or by a process of its own (process.ts, remote.ts).
import { joinedBytes } from "../lib/text/joined-bytes.ts";
import { readRanges } from "../lib/net/public-address.ts";
import { fetchOutbound, namedOrigins } from "./connector.ts";

export type DocumentRequest = {
  readonly url: string;
  /** CIDRs of the setting `fetch.allowed_private`. */
  readonly allowed: readonly string[];
  /** URLs of the operator's own configuration: their origins may be private. */
  readonly named: readonly string[];
  readonly bytes_max: number;
  readonly total_ms: number;
};
export type FetchedDocument = { readonly status: number; readonly text: string };
export type DocumentFetch = (request: DocumentRequest) => Promise<FetchedDocument>;

/**
 * Fetches in this process. Throws for an address that is refused, and for an answer that is too long or too slow. A redirect
 * is an answer like any other.
 */
export const fetchDocumentHere: DocumentFetch = async ({ url, allowed, named, bytes_max, total_ms }) => {
  const response = await fetchOutbound(url, {
    reach: { allowed: readRanges(allowed), named: namedOrigins(named) },
    headers: { accept: "application/json" },
    signal: AbortSignal.timeout(total_ms),
  });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > bytes_max) throw new Error(`${url} answered more than ${bytes_max} bytes`);
    chunks.push(chunk);
  }
  return { status: response.status, text: new TextDecoder().decode(joinedBytes(chunks)) };
};
