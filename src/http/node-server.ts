// Serves a fetch handler with node:http, because Deno.serve waits forever for an incomplete header. The server limits
// the time and size of headers and bodies and the time of idle connections, and parses strictly (docs/reliability.md,
// S-36). A request reaches the handler only with its complete body, so no handler waits for a slow client. Each source
// has only a share of the bodies and connections (S-50).
import { getLogger } from "@logtape/logtape";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import {
  BODY_BYTES_MAX,
  BODY_READ_MS,
  CONNECTIONS_MAX,
  HEADER_BYTES_MAX,
  HEADER_LINES_MAX,
  HEADERS_READ_MS,
  IDLE_SOCKET_MS,
  URI_BYTES_MAX,
} from "../contract/limits.ts";
import type { Cidr } from "../lib/net/ip-address.ts";
import type { BodyAdmission } from "./body-admission.ts";
import { type EdgeAnswer, edgeAnswer, edgeText } from "./edge-answer.ts";
import type { Peer } from "./env.ts";
import { type ConnectionShares, createConnectionShares } from "./connection-shares.ts";
import { BODY_LATE, bodyTooLarge, TOO_MANY_BODIES } from "./json-body.ts";
import { admittedBody, type Bodies } from "./node-body.ts";
import type { TlsIdentity } from "./tls-files.ts";
import { answerUpgrade, type Asking, isWebSocket } from "./websocket-node.ts";

/**
 * A handler of requests. The body and the signal are in the peer and not in the Request, because a Request would create
 * streams and copies of them.
 */
export type FetchHandler = (request: Request, peer: Peer) => Response | Promise<Response>;

export type NodeServerOptions = {
  readonly fetch: FetchHandler;
  readonly hostname: string;
  /** The port to listen on; 0 picks a free port. */
  readonly port: number;
  /** The certificate and key for TLS (version 1.2 or newer). With TLS, the server accepts no plain HTTP. */
  readonly tls?: TlsIdentity | null;
  /** Called before each body is read. Without it, only the size limit and the limit of all bodies together apply. */
  readonly admitBody?: BodyAdmission;
  /** Proxies whose X-Forwarded-For is trusted and whose connections are not limited. */
  readonly trustedProxies?: readonly Cidr[];
  /** Whether each address and caller is limited to a share of the connections. */
  readonly shares?: boolean;
  /** Shorter limits, for tests. */
  readonly limits?: Partial<EdgeLimits>;
};

export type EdgeLimits = {
  headers_ms: number;
  body_ms: number;
  idle_ms: number;
  held_bytes_max: number;
  /** The maximum number of open connections. Further connections are closed at once. */
  connections_max: number;
};

export type NodeServer = {
  readonly port: number;
  /** Replaces the certificate for new handshakes. Only for TLS servers. */
  useTls(identity: TlsIdentity): void;
  /** Stops accepting, lets running requests finish for `graceMs`, then closes the remaining connections. */
  close(graceMs: number): Promise<void>;
};

/** A request and its response. `isAsking` means that the client waits for 100 Continue. */
type Exchange = { readonly req: IncomingMessage; readonly res: ServerResponse; readonly isAsking?: boolean };
type Site = {
  readonly options: NodeServerOptions;
  readonly limits: EdgeLimits;
  /** Number of requests in progress per connection. */
  readonly answering: WeakMap<Socket, number>;
  readonly connections: ConnectionShares | null;
  readonly bodies: Bodies;
  /** The connections that became WebSockets. The functions of node:http no longer close such connections. */
  readonly upgraded: Set<Duplex>;
  draining: boolean;
};

const logger = getLogger(["berth", "http"]);
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
/** The maximum number of bytes of all unfinished bodies together. Above this, new bytes are refused. */
const HELD_BYTES_MAX = 128 * BODY_BYTES_MAX;
/** A placeholder for the host in a request's URL. No handler reads the host. */
const ORIGIN = "http://localhost";

/** Starts the server. Resolves when it listens; rejects when it cannot (port taken, address unknown). */
export async function serveNode(options: NodeServerOptions): Promise<NodeServer> {
  const limits = {
    headers_ms: HEADERS_READ_MS,
    body_ms: BODY_READ_MS,
    idle_ms: IDLE_SOCKET_MS,
    held_bytes_max: HELD_BYTES_MAX,
    connections_max: CONNECTIONS_MAX,
    ...options.limits,
  };
  const { trustedProxies: trusted = [], shares = false } = options;
  const connections = shares ? createConnectionShares({ connections_max: limits.connections_max, trusted }) : null;
  const { admitBody } = options;
  const bodies: Bodies = { admitBody, trusted, held_bytes_max: limits.held_bytes_max, heldBytes: 0 };
  const site: Site = {
    options,
    limits,
    answering: new WeakMap(),
    connections,
    bodies,
    upgraded: new Set(),
    draining: false,
  };
  const edge = {
    headersTimeout: limits.headers_ms,
    requestTimeout: limits.headers_ms + limits.body_ms,
    keepAliveTimeout: limits.idle_ms,
    connectionsCheckingInterval: Math.min(1_000, limits.headers_ms / 4),
    maxHeaderSize: HEADER_BYTES_MAX,
    requireHostHeader: true,
    // Requests for other protocols, such as h2c, are answered as plain HTTP/1.1.
    shouldUpgradeCallback: isWebSocket,
  };
  const answer = (req: IncomingMessage, res: ServerResponse) => void take({ req, res }, site);
  // The TLS handshake has the same time limit as the header.
  const greeting = { minVersion: "TLSv1.2", handshakeTimeout: limits.headers_ms } as const;
  const tlsServer = options.tls ? createTlsServer({ ...edge, ...greeting, ...options.tls }, answer) : null;
  const server = tlsServer ?? createServer(edge, answer);
  // If a listener of Deno 2.9.6 runs out of file descriptors, it never accepts again. So this limit must be below the
  // limit of open files.
  server.maxConnections = limits.connections_max;
  if (connections !== null) server.on("connection", (socket: Socket) => connections.opened(socket));
  server.on("checkContinue", (req: IncomingMessage, res: ServerResponse) => {
    void take({ req, res, isAsking: true }, site);
  });
  server.on("upgrade", (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    site.upgraded.add(socket);
    socket.once("close", () => site.upgraded.delete(socket));
    const known = (caller: string) => site.connections?.known(req.socket, caller);
    const peer = { remoteAddress: req.socket.remoteAddress ?? "", known };
    const ask = (asking: Asking) => options.fetch(toRequest(req), { ...peer, ...asking });
    void answerUpgrade({ req, socket, head }, refusal(req) ?? ask);
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => refuseSocket(error, socket, site));
  await listen(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    useTls: (identity) => tlsServer?.setSecureContext({ ...greeting, ...identity }),
    close: (graceMs) => drain(server, site, graceMs),
  };
}

function listen(server: Server, { port, hostname }: NodeServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function drain(server: Server, site: Site, graceMs: number): Promise<void> {
  site.draining = true;
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      server.closeAllConnections();
      for (const socket of site.upgraded) socket.destroy();
    }, graceMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}

async function take(exchange: Exchange, site: Site): Promise<void> {
  const { req, res } = exchange;
  // The controller is created when a handler first reads the signal, because few handlers do.
  let leaving: AbortController | undefined;
  let left = false;
  let answering = false;
  res.once("close", () => {
    if (answering) site.answering.set(req.socket, (site.answering.get(req.socket) ?? 1) - 1);
    left = !res.writableFinished;
    if (left) leaving?.abort();
  });
  req.on("error", () => {}); // The client disconnected. The event "close" of the response also reports this.
  try {
    const refused = refusal(req);
    if (refused) return refuse(exchange, refused);
    const { body, checked } = await admittedBody({ ...exchange, left: () => left }, site.bodies);
    if (body === "gone") return;
    if (body === "late") return refuse(exchange, edgeAnswer(408, BODY_LATE));
    if (body === "too many") return refuse(exchange, edgeAnswer(503, TOO_MANY_BODIES, { "retry-after": "1" }));
    if ("bytes_max" in body) return refuse(exchange, edgeAnswer(413, bodyTooLarge(body.bytes_max)));
    answering = true;
    site.answering.set(req.socket, (site.answering.get(req.socket) ?? 0) + 1);
    const peer: Peer = {
      remoteAddress: req.socket.remoteAddress ?? "",
      body,
      checked,
      known: (caller) => site.connections?.known(req.socket, caller),
      upgrade: undefined,
      get gone() {
        leaving ??= new AbortController();
        if (left) leaving.abort();
        return leaving.signal;
      },
    };
    const response = await site.options.fetch(toRequest(req), peer);
    await write(exchange, response, site);
  } catch (error) {
    // The app answers its own errors, so this error is a bug in the HTTP server. The details are only logged.
    logger.error("the HTTP server failed", { error });
    if (res.headersSent) req.socket.destroy();
    else refuse(exchange, edgeAnswer(500, "Internal Server Error"));
  }
}

function refusal(req: IncomingMessage): EdgeAnswer | null {
  const lines = req.rawHeaders.length / 2;
  if (lines > HEADER_LINES_MAX) {
    return edgeAnswer(431, `a request must not have more than ${HEADER_LINES_MAX} header lines`);
  }
  let hosts = 0;
  for (let at = 0; at < req.rawHeaders.length; at += 2) if (req.rawHeaders[at]!.toLowerCase() === "host") hosts++;
  if (hosts > 1) return edgeAnswer(400, "a request must have one Host header");
  if ((req.url ?? "").length > URI_BYTES_MAX) {
    return edgeAnswer(414, `the URI must not be longer than ${URI_BYTES_MAX} bytes`);
  }
  if (!METHODS.has(req.method ?? "")) return edgeAnswer(501, "the method is not implemented");
  if (!req.url?.startsWith("/")) return edgeAnswer(400, "the request target must be a path");
  return null;
}

function toRequest(req: IncomingMessage): Request {
  // The headers are passed as pairs, because a Headers object would be sorted and copied again.
  const headers: [string, string][] = [];
  for (let at = 0; at < req.rawHeaders.length; at += 2) headers.push([req.rawHeaders[at]!, req.rawHeaders[at + 1]!]);
  return new Request(ORIGIN + req.url, { method: req.method, headers });
}

async function write({ req, res }: Exchange, response: Response, site: Site): Promise<void> {
  // `response.body` is not used, because it would create a stream.
  const body = new Uint8Array(await response.arrayBuffer());
  const headers: string[] = [];
  // forEach needs a third of the time that an iterator needs.
  response.headers.forEach((value, name) => {
    // The length is computed here. Only an answer to HEAD keeps its length header, because such an answer has no body
    // to measure.
    if (name !== "content-length" || req.method === "HEAD") headers.push(name, value);
  });
  if (req.method !== "HEAD" && response.status !== 204 && response.status !== 304) {
    headers.push("content-length", String(body.length));
  }
  if (site.draining) headers.push("connection", "close");
  res.writeHead(response.status, headers);
  res.end(body.length > 0 ? body : undefined);
  // A client that stops reading would keep the answer in memory, so its connection is closed after the idle limit.
  if (req.socket.writableLength > 0) {
    const cut = setTimeout(() => req.socket.destroy(), site.limits.idle_ms);
    res.once("close", () => clearTimeout(cut));
  }
}

function refuse({ req, res }: Exchange, answer: EdgeAnswer): void {
  res.writeHead(answer.status, answer.headers);
  res.end(answer.body, () => req.socket.destroySoon());
}

function refuseSocket(error: NodeJS.ErrnoException, socket: Socket, site: Site): void {
  // Any error that is not from the HTTP parser is an error of TLS. Then no answer can be sent.
  if (site.options.tls && !/^(?:HPE|ERR_HTTP)_/.test(error.code ?? "")) return void socket.destroy();
  // While a request is in progress, the client would read an error answer as the answer to that request.
  if (error.code === "ECONNRESET" || !socket.writable || (site.answering.get(socket) ?? 0) > 0) {
    return void socket.destroy();
  }
  const answer = error.code === "ERR_HTTP_REQUEST_TIMEOUT"
    ? edgeAnswer(408, BODY_LATE)
    : error.code === "HPE_HEADER_OVERFLOW"
    ? edgeAnswer(431, `the header must not be larger than ${HEADER_BYTES_MAX} bytes`)
    : edgeAnswer(400, "not a well-formed HTTP request");
  socket.end(edgeText(answer), () => socket.destroy());
}
