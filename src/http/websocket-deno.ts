// Completes WebSocket handshakes of Deno.serve.
import type { Peer } from "./env.ts";
import {
  closeReason,
  type ServerSocket,
  SOCKET_PING_MS,
  type SocketAcceptance,
  type SocketListener,
} from "./websocket.ts";

/**
 * Answers a request of Deno.serve. The request may ask for a WebSocket.
 * @param ask calls the handler with a peer that has this `upgrade`. `upgrade` is undefined if the request does not ask
 *   for a WebSocket
 */
export async function answerDeno(
  request: Request,
  ask: (upgrade: Peer["upgrade"]) => Response | Promise<Response>,
): Promise<Response> {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return await ask(undefined);
  let accepted: SocketAcceptance | undefined;
  const response = await ask((acceptance) => accepted = acceptance);
  if (accepted !== undefined && response.ok) return acceptSocket(request, accepted);
  accepted?.failed?.();
  return response;
}

/** Completes the handshake and returns the answer. Throws a TypeError if the handshake is malformed. */
function acceptSocket(request: Request, { protocol, opened, failed }: SocketAcceptance): Response {
  const { socket, response } = upgraded(request, protocol, failed);
  socket.binaryType = "arraybuffer";
  let is_open = false;
  socket.addEventListener("open", () => {
    is_open = true;
    opened(serverSocket(socket));
  });
  socket.addEventListener("close", () => is_open || failed?.(), { once: true });
  return response;
}

function upgraded(request: Request, protocol: string, failed: SocketAcceptance["failed"]): Deno.WebSocketUpgrade {
  try {
    return Deno.upgradeWebSocket(request, { protocol, idleTimeout: SOCKET_PING_MS / 1_000 });
  } catch (error) {
    failed?.();
    throw error;
  }
}

function serverSocket(socket: WebSocket): ServerSocket {
  let listener: SocketListener | undefined;
  socket.addEventListener("message", ({ data }) => {
    if (typeof data === "string") listener?.onText(data);
    else listener?.onData(new Uint8Array(data as ArrayBuffer));
  });
  socket.addEventListener("close", () => listener?.onClose(), { once: true });
  return {
    send: (data) => socket.readyState === WebSocket.OPEN && socket.send(data),
    buffered: () => socket.bufferedAmount,
    close: (code, reason) => socket.close(code, closeReason(reason)),
    listen: (given) => listener = given,
  };
}
