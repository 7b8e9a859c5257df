// A WebSocket in memory, as a route gets it. The test acts as the other end.
import type { ServerSocket, SocketListener } from "../../src/http/websocket.ts";

export type FakeSocket = ReturnType<typeof fakeSocket>;

export function fakeSocket() {
  const sent: (string | Uint8Array)[] = [];
  let listener: SocketListener | null = null;
  let buffered = 0;
  let closed: string | null = null;
  const socket: ServerSocket = {
    send: (data) => void sent.push(data),
    buffered: () => buffered,
    close: (_code, reason) => closed ??= reason,
    listen: (given) => listener = given,
  };
  return {
    socket,
    sent,
    closed: () => closed,
    stall: () => buffered = 2 ** 30,
    data: (text: string) => listener!.onData(new TextEncoder().encode(text)),
    text: (text: string) => listener!.onText(text),
    gone: () => listener!.onClose(),
  };
}
