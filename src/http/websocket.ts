// Defines WebSockets for routes. A route that accepts a WebSocket calls `upgrade` of its peer. The server that received
// the request then completes the handshake with its own library, and passes the socket to the route as a ServerSocket.
import { CONSOLE_PING_MS } from "../contract/limits.ts";

export type SocketListener = {
  readonly onData: (bytes: Uint8Array) => void;
  readonly onText: (text: string) => void;
  /** Called once, when the socket has ended for any reason. */
  readonly onClose: () => void;
};

/**
 * An open WebSocket. It sends pings and answers pings by itself. It closes when the other end does not answer a ping.
 */
export type ServerSocket = {
  send(data: string | Uint8Array<ArrayBuffer>): void;
  /** Bytes that were sent and have not left the process. */
  buffered(): number;
  /** Starts the closing handshake. `reason` has at most 123 bytes of UTF-8. */
  close(code: number, reason: string): void;
  /**
   * Sets the listener and replaces an earlier one. Call this when the socket arrives, because frames that arrive
   * without a listener are lost.
   */
  listen(listener: SocketListener): void;
};

export type SocketAcceptance = {
  /** The subprotocol of the answer. */
  readonly protocol: string;
  readonly opened: (socket: ServerSocket) => void;
  /**
   * Called once instead of `opened` if the handshake is malformed, if the client has disconnected meanwhile, or if the
   * request is refused after the route accepted it.
   */
  readonly failed?: () => void;
};

/** Status codes of RFC 6455, 7.4.1, and our own code 4000: the console ended for the reason in its last message. */
export const SOCKET_CLOSE = { normal: 1_000, going_away: 1_001, policy: 1_008, ended: 4_000 } as const;

/** The interval of pings. If the other end does not answer a ping before the next one, the socket is closed. */
export const SOCKET_PING_MS = CONSOLE_PING_MS;

/** The status that a route returns after it accepted a WebSocket. The server does not send this answer. */
export const ACCEPTED_SOCKET_STATUS = 204;

const REASON_BYTES_MAX = 123;

/** Cuts a reason to the length that a close frame may have. */
export function closeReason(text: string): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= REASON_BYTES_MAX) return text;
  return new TextDecoder().decode(bytes.subarray(0, REASON_BYTES_MAX)).replace(/\uFFFD+$/, "");
}
