// Sends complete content, such as a picture of the screen, over the connection of a console.
import { CONSOLE_FRAME_BYTES_MAX } from "../../src/contract/limits.ts";
import { controlText, parseControl } from "../../src/lib/console/frames.ts";
import { createSendWindow } from "../../src/lib/console/window.ts";
import type { ClientSocket } from "../../cli/internal/websocket.ts";

/** Sends the bytes as fast as the other side confirms them, and then a message that they are complete. */
export function sendWhole(socket: Pick<ClientSocket, "send" | "close" | "listen">, bytes: Uint8Array): void {
  const window = createSendWindow();
  let at = 0;

  function advance(): void {
    while (at < bytes.length && window.room() > 0) {
      const piece = bytes.slice(at, at + Math.min(CONSOLE_FRAME_BYTES_MAX, window.room()));
      socket.send(piece);
      window.sent(piece.length);
      at += piece.length;
    }
    if (at === bytes.length) socket.send(controlText({ type: "done" }));
  }

  socket.listen({
    onData: () => {},
    onText: (text) => {
      const control = parseControl(text);
      if (control?.type !== "ack" || at === bytes.length) return;
      if (window.confirmed(control.bytes)) advance();
      else socket.close();
    },
    onClose: () => {},
  });
  advance();
}
