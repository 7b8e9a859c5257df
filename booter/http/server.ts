// Serves HTTP, with or without TLS, to firmware, iPXE and setup scripts. The server answers HEAD and GET with an exact
// length, supports one byte range, and sends no redirects or empty headers. Connections are kept open, because
// HttpBootDxe fails when a server closes after every answer (edk2 #9920). A client that reads nothing of a file for
// half a minute is disconnected.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Readable } from "node:stream";
import { HEADER_BYTES_MAX, HEADERS_READ_MS, IDLE_SOCKET_MS, URI_BYTES_MAX } from "../../src/contract/limits.ts";
import { joinedBytes } from "../../src/lib/text/joined-bytes.ts";
import type { Counters } from "../counters.ts";
import { peerText } from "../ipv4.ts";
import { HTTP_CONNECTIONS_MAX, HTTP_STALLED_MS, REPORT_BYTES_MAX } from "../limits.ts";
import type { Log } from "../log.ts";
import { listenOn } from "../tcp-port.ts";
import { type HttpAnswer, type HttpHandler, textAnswer } from "./answer.ts";
import { readRange } from "./range.ts";

export type HttpOptions = {
  readonly address: string;
  readonly port: number;
  readonly handler: HttpHandler;
  /** The certificate with its chain, and its key, as PEM; absent for HTTP without TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly counters: Counters;
  readonly log: Log;
  /**
   * The time after which a client that reads nothing is disconnected. The default is HTTP_STALLED_MS; tests set a
   * shorter one.
   */
  readonly stalled_ms?: number;
};

export type HttpServer = { readonly port: number; close(): Promise<void> };

export async function openHttp(options: HttpOptions): Promise<HttpServer> {
  const limits = {
    headersTimeout: HEADERS_READ_MS,
    requestTimeout: HEADERS_READ_MS * 2,
    keepAliveTimeout: IDLE_SOCKET_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
    requireHostHeader: false, // old firmware omits the Host header
  };
  const taken = (req: IncomingMessage, res: ServerResponse) => void take(req, res, options);
  const server: Server = options.tls === undefined
    ? createServer(limits, taken)
    : createTlsServer({ ...limits, ...options.tls }, taken);
  server.maxConnections = HTTP_CONNECTIONS_MAX;
  server.on("clientError", (_error, socket) => socket.destroy());
  const port = await listenOn(server, options);
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function take(req: IncomingMessage, res: ServerResponse, options: HttpOptions): Promise<void> {
  // An "error" event without a listener would end the process. These listeners do nothing, because watchEnd and drained
  // handle the "close" event that follows.
  req.on("error", () => {});
  res.on("error", () => {});
  try {
    const answer = await answerOf(req, options);
    options.counters.count("http_answers_total", { status: String(answer.status) });
    if (answer.ended !== undefined) watchEnd(res, answer.ended);
    await write(req, res, answer, options.stalled_ms ?? HTTP_STALLED_MS);
  } catch (error) {
    options.counters.count("http_errors_total");
    options.log("http.error", { error: error instanceof Error ? error.message : "unknown" });
    if (res.headersSent) res.destroy();
    else await write(req, res, textAnswer(500, "error\n"), HTTP_STALLED_MS);
  }
}

/**
 * Calls `ended` exactly once: with true after the whole answer was sent, with false if the connection closes earlier.
 * If the connection is already closed, calls `ended(false)` at once, because no event will follow.
 */
function watchEnd(res: ServerResponse, ended: (whole: boolean) => void): void {
  if (res.destroyed || res.socket === null || res.socket.destroyed) return ended(false);
  let over = false;
  const end = (whole: boolean) => {
    if (!over) ended(whole);
    over = true;
  };
  res.once("finish", () => end(true));
  res.once("close", () => end(false));
}

async function answerOf(req: IncomingMessage, { handler }: HttpOptions): Promise<HttpAnswer> {
  const method = req.method ?? "";
  if (method !== "GET" && method !== "HEAD" && method !== "POST") {
    return textAnswer(405, "the method must be GET, HEAD or POST\n");
  }
  const url = req.url ?? "";
  if (!url.startsWith("/") || url.length > URI_BYTES_MAX) {
    return textAnswer(400, "the path does not start with / or is too long\n");
  }
  const body = method === "POST" ? await bodyOf(req) : new Uint8Array(0);
  if (body === null) return textAnswer(413, "the body is too long\n");
  return await handler({
    method,
    path: url.split("?", 1)[0]!,
    source: peerText(req.socket.remoteAddress),
    header: (name) => {
      const value = req.headers[name];
      return typeof value === "string" ? value : undefined;
    },
    body,
  });
}

async function bodyOf(req: IncomingMessage): Promise<Uint8Array | null> {
  if (Number(req.headers["content-length"] ?? 0) > REPORT_BYTES_MAX) return null;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of req as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > REPORT_BYTES_MAX) return null;
    parts.push(part);
  }
  return joinedBytes(parts);
}

async function write(req: IncomingMessage, res: ServerResponse, answer: HttpAnswer, stalled_ms: number) {
  const { content, type } = answer;
  const size = "file" in content ? (await stat(content.file)).size : content.bytes.length;
  const range = answer.status === 200 ? readRange(req.headers.range, size) : null;
  const headers: Record<string, string | number> = { "content-type": type, "cache-control": "no-store" };
  if (answer.status === 200) headers["accept-ranges"] = "bytes";
  if (range === "none") {
    res.writeHead(416, { ...headers, "content-range": `bytes */${size}`, "content-length": 0 });
    return void res.end();
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  headers["content-length"] = end - start + 1;
  if (range !== null) headers["content-range"] = `bytes ${start}-${end}/${size}`;
  res.writeHead(range === null ? answer.status : 206, headers);
  if (req.method === "HEAD" || size === 0) return void res.end();
  if ("bytes" in content) return void res.end(content.bytes.subarray(start, end + 1));
  await stream(createReadStream(content.file, { start, end }), res, stalled_ms);
}

/**
 * Sends a file with at most one part in memory. A file may become shorter after its length was announced. Then the
 * client waits for the missing bytes until the server closes the idle connection after IDLE_SOCKET_MS.
 */
async function stream(file: Readable, res: ServerResponse, stalled_ms: number): Promise<void> {
  try {
    for await (const part of file) {
      if (res.destroyed) return;
      if (!res.write(part)) await drained(res, stalled_ms);
    }
    res.end();
  } finally {
    file.destroy();
  }
}

function drained(res: ServerResponse, stalled_ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      clearTimeout(timer);
      res.off("drain", taken);
      res.off("close", gone);
      if (error === undefined) resolve();
      else reject(error);
    };
    const taken = () => settle();
    const gone = () => settle(new Error("the client disconnected"));
    const timer = setTimeout(
      () => settle(new Error(`the client has not read the answer for ${stalled_ms} ms`)),
      stalled_ms,
    );
    res.once("drain", taken);
    res.once("close", gone);
  });
}
