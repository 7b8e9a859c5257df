// The program of the outbound process, which fetches documents and sends webhook events for the server. This process
// may connect to any address; the server may not. It has no other permission: it cannot read files or environment
// variables or start programs. It stores none of the credentials that requests contain. It reads `{secret, port}` from
// the first line of standard input, prints the port on which it listens, and exits when standard input ends.
import { Buffer } from "node:buffer";
import { timingSafeEqual } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { createInterface } from "node:readline";
import { type DocumentRequest, fetchDocumentHere } from "./document.ts";
import { failureOf } from "./failure.ts";

/** The maximum size of a request, which contains a URL, a few address ranges and at most one event. */
const REQUEST_BYTES_MAX = 256 * 1024;

function isAuthorized(request: http.IncomingMessage, secret: string): boolean {
  const [given, right] = [request.headers.authorization ?? "", `Bearer ${secret}`].map((text) => Buffer.from(text));
  return given!.length === right!.length && timingSafeEqual(given!, right!);
}

async function answer(request: http.IncomingMessage): Promise<unknown> {
  try {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of request) {
      bytes += chunk.length;
      if (bytes > REQUEST_BYTES_MAX) throw new Error("the request is too long");
      chunks.push(chunk);
    }
    return await fetchDocumentHere(JSON.parse(Buffer.concat(chunks).toString("utf8")) as DocumentRequest);
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error), failure: failureOf(error) };
  }
}

function serve({ secret, port }: { readonly secret: string; readonly port: number }): void {
  const server = http.createServer(async (request, response) => {
    const known = isAuthorized(request, secret);
    if (!known) request.destroy();
    else response.setHeader("content-type", "application/json").end(JSON.stringify(await answer(request)));
  });
  server.listen(port, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
}

// Ignores SIGTERM and SIGINT. The process exits when its standard input closes. The input also closes if the parent is
// killed.
process.on("SIGTERM", () => {});
process.on("SIGINT", () => {});
const input = createInterface({ input: process.stdin });
input.once("line", (line) => serve(JSON.parse(line)));
input.once("close", () => process.exit(0));
