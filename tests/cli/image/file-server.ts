// Starts a vendor's server on the loopback interface. The server serves files and ranges (RFC 9110), with faults that a
// test injects.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Wrong = (request: IncomingMessage, response: ServerResponse, body: Uint8Array) => boolean;
export type FileServer = {
  readonly base: string;
  readonly files: Map<string, Uint8Array>;
  /**
   * Faults by path. A fault is a function. If the function returns true, the server itself does not answer the request.
   */
  readonly wrong: Map<string, Wrong>;
  /** The requests in order, in the form "PATH RANGE IF-RANGE". */
  readonly asked: string[];
  put(path: string, body: Uint8Array | string): string;
  close(): Promise<void>;
};

export async function startFileServer(): Promise<FileServer> {
  const files = new Map<string, Uint8Array>();
  const wrong = new Map<string, Wrong>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url!;
    const { range = "", "if-range": if_range = "" } = request.headers;
    asked.push([path, range, if_range].join(" ").trimEnd());
    const body = files.get(path);
    if (wrong.get(path)?.(request, response, body ?? new Uint8Array()) === true) return;
    if (body === undefined) response.writeHead(404).end();
    else serve(request, response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    base,
    files,
    wrong,
    asked,
    put: (path, body) => {
      files.set(path, typeof body === "string" ? new TextEncoder().encode(body) : body);
      return base + path;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

export function etagOf(body: Uint8Array): string {
  return `"${createHash("sha256").update(body).digest("hex").slice(0, 16)}"`;
}

export function serve(request: IncomingMessage, response: ServerResponse, body: Uint8Array): void {
  const etag = etagOf(body);
  const { range, "if-range": if_range } = request.headers;
  const from = Number(/^bytes=([0-9]+)-$/.exec(range ?? "")?.[1] ?? 0);
  const headers = { etag, "accept-ranges": "bytes" };
  if (from === 0 || (if_range !== undefined && if_range !== etag)) {
    response.writeHead(200, { ...headers, "content-length": body.length }).end(body);
  } else if (from >= body.length) {
    response.writeHead(416, { ...headers, "content-range": `bytes */${body.length}` }).end();
  } else {
    const rest = body.subarray(from);
    const content_range = `bytes ${from}-${body.length - 1}/${body.length}`;
    response.writeHead(206, { ...headers, "content-length": rest.length, "content-range": content_range }).end(rest);
  }
}

/** Returns a fault that cuts the connection of the first `times` requests after `bytes` bytes of the response. */
export function cutting(bytes: number, times = Infinity): Wrong {
  let left = times;
  return (request, response, body) => {
    if (left-- <= 0) return false;
    const from = Number(/^bytes=([0-9]+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const etag = etagOf(body);
    const rest = body.subarray(from);
    response.writeHead(from === 0 ? 200 : 206, {
      etag,
      "content-length": rest.length,
      ...(from === 0 ? {} : { "content-range": `bytes ${from}-${body.length - 1}/${body.length}` }),
    });
    response.write(rest.subarray(0, bytes), () => response.destroy());
    return true;
  };
}

export function telling(status: number, headers: Record<string, string>, body: Uint8Array | string = ""): Wrong {
  return (_request, response) => {
    response.writeHead(status, headers).end(body);
    return true;
  };
}
