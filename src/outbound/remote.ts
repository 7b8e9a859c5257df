// The server's client of the outbound process (process.ts). It sends one request per document or event, over loopback,
// with a secret that the outbound process got on standard input. It uses node:http, because the function fetch would
// use a proxy that is set in the environment.
import http from "node:http";
import type { DocumentFetch, FetchedDocument } from "./document.ts";
import { type FetchFailure, RemoteFailure } from "./failure.ts";

export type FetcherAddress = { readonly port: number; readonly secret: string };

/**
 * The time in milliseconds that the client waits after the document's time limit, so that the outbound process can
 * report the error.
 */
const MARGIN_MS = 2_000;

/**
 * Returns a fetch that runs in the outbound process. It throws the error of the outbound process, or another error if
 * the outbound process does not reply.
 */
export function remoteDocumentFetch({ port, secret }: FetcherAddress): DocumentFetch {
  return async (request) => {
    const answer = await post({ port, secret, body: JSON.stringify(request), limit_ms: request.total_ms + MARGIN_MS });
    const read = JSON.parse(answer) as Partial<FetchedDocument> & { error?: string; failure?: FetchFailure };
    if (typeof read.status !== "number" || typeof read.text !== "string") {
      throw new RemoteFailure(read.error ?? "the outbound process did not reply", read.failure ?? "broken");
    }
    return { status: read.status, text: read.text };
  };
}

type Posted = FetcherAddress & { readonly body: string; readonly limit_ms: number };

function post({ port, secret, body, limit_ms }: Posted): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const signal = AbortSignal.timeout(limit_ms);
    const request = http.request({ method: "POST", host: "127.0.0.1", port, headers, signal, agent: false });
    request.on("error", reject);
    request.once("response", (response) => {
      const chunks: Uint8Array[] = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    });
    request.end(body);
  });
}
