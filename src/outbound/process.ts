// The process that fetches documents for the server: the only process that may connect to any address, and that is its only
// permission. It reads no file and no variable, starts no program and has no credentials. The first line of its standard
// input is `{secret, port}`. It prints the port on which it listens, and ends when standard input ends.
import { Buffer } from "node:buffer";
import { timingSafeEqual } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { createInterface } from "node:readline";
import { type DocumentRequest, fetchDocumentHere } from "./document.ts";

/** A request has a URL and a few ranges. */
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
    return { error: error instanceof Error ? error.message : String(error) };
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

// The end of standard input ends it, also when its parent was killed.
process.on("SIGTERM", () => {});
process.on("SIGINT", () => {});
const input = createInterface({ input: process.stdin });
input.once("line", (line) => serve(JSON.parse(line)));
input.once("close", () => process.exit(0));
