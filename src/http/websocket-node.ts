// Completes WebSocket handshakes of node:http, with the package ws.
import { getLogger } from "@logtape/logtape";
import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import "./ws-without-addons.ts";
import { type RawData, WebSocket, WebSocketServer } from "ws";
import { CONSOLE_CONTROL_BYTES_MAX, CONSOLE_FRAME_BYTES_MAX } from "../contract/limits.ts";
import { type EdgeAnswer, edgeText } from "./edge-answer.ts";
import type { Peer } from "./env.ts";
import {
  closeReason,
  type ServerSocket,
  SOCKET_PING_MS,
  type SocketAcceptance,
  type SocketListener,
} from "./websocket.ts";

const logger = getLogger(["berth", "http"]);
/** Frames are not compressed, because a small compressed frame could become a large one in memory. */
const sockets = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: Math.max(CONSOLE_FRAME_BYTES_MAX, CONSOLE_CONTROL_BYTES_MAX),
});

export type Handshake = { readonly req: IncomingMessage; readonly socket: Duplex; readonly head: Buffer };

/** Returns whether the request asks for a WebSocket, and not for another protocol such as h2c. */
export function isWebSocket(req: IncomingMessage): boolean {
  return req.headers.upgrade?.toLowerCase() === "websocket";
}

/** The part of a peer that belongs to a request for a WebSocket. */
export type Asking = Pick<Peer, "body" | "checked" | "gone" | "upgrade">;

/**
 * Calls the handler. Completes the handshake if the handler accepts the WebSocket and returns a success. In any other
 * case, sends the handler's answer and closes the connection.
 * @param ask the handler, or the answer to a malformed request
 */
export async function answerUpgrade(
  handshake: Handshake,
  ask: EdgeAnswer | ((asking: Asking) => Response | Promise<Response>),
): Promise<void> {
  const { socket } = handshake;
  socket.on("error", () => {}); // The client disconnected.
  if (typeof ask !== "function") return void socket.end(edgeText(ask));
  const leaving = new AbortController();
  const left = () => leaving.abort();
  socket.once("close", left);
  let accepted: SocketAcceptance | undefined;
  const upgrade = (acceptance: SocketAcceptance) => void (accepted = acceptance);
  try {
    const response = await ask({ body: new Uint8Array(0), checked: undefined, gone: leaving.signal, upgrade });
    socket.off("close", left);
    if (accepted !== undefined && response.ok) return acceptSocket(handshake, accepted);
    accepted?.failed?.();
    const body = await response.text();
    const length = { "content-length": String(Buffer.byteLength(body)), connection: "close" };
    const headers = { ...Object.fromEntries(response.headers), ...length };
    socket.end(edgeText({ status: response.status, headers, body }));
  } catch (error) {
    logger.error("the HTTP server failed", { error });
    socket.destroy();
  }
}

/** Completes the handshake. The library refuses a malformed handshake. */
function acceptSocket({ req, socket, head }: Handshake, { protocol, opened, failed }: SocketAcceptance): void {
  // The library answers with the first protocol in this header. The client's own first protocol may be the ticket.
  req.headers["sec-websocket-protocol"] = protocol;
  let is_open = false;
  sockets.handleUpgrade(req, socket, head, (webSocket) => {
    is_open = true;
    opened(serverSocket(webSocket));
  });
  // The library calls the function above before it returns, or not at all.
  if (!is_open) failed?.();
}

function serverSocket(webSocket: WebSocket): ServerSocket {
  let alive = true;
  let listener: SocketListener | undefined;
  const beat = setInterval(() => {
    if (!alive) return webSocket.terminate();
    alive = false;
    webSocket.ping();
  }, SOCKET_PING_MS);
  webSocket.on("pong", () => alive = true);
  webSocket.on("error", () => {}); // The event "close" follows.
  webSocket.on("message", (data, isBinary) => {
    alive = true;
    const bytes = bytesOf(data);
    if (isBinary) listener?.onData(bytes);
    else listener?.onText(new TextDecoder().decode(bytes));
  });
  webSocket.once("close", () => {
    clearInterval(beat);
    listener?.onClose();
  });
  return {
    send: (data) => webSocket.readyState === WebSocket.OPEN && webSocket.send(data),
    buffered: () => webSocket.bufferedAmount,
    close: (code, reason) => {
      webSocket.close(code, closeReason(reason));
    },
    listen: (given) => listener = given,
  };
}

/** With the library's default settings a message is one Buffer. */
function bytesOf(data: RawData): Uint8Array<ArrayBuffer> {
  return data instanceof ArrayBuffer
    ? new Uint8Array(data)
    : Array.isArray(data)
    ? new Uint8Array(Buffer.concat(data))
    : new Uint8Array(data);
}
