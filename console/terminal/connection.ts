// Connects the browser with a serial console: gets a ticket, then opens a WebSocket (docs/wire.md).
import type { ConsoleTicket, ConsoleTicketBody } from "../../src/contract/console.ts";
import { CONSOLE_FRAME_BYTES_MAX } from "../../src/contract/limits.ts";
import { consoleProtocols, controlText, parseControl } from "../../src/lib/console/frames.ts";
import { createReceipts, createSendWindow } from "../../src/lib/console/window.ts";
import { send } from "../core/client.ts";

export type ConnectionEvents = {
  /** Called when the node is connected. `isWriter` is true if the user of this console may type. */
  readonly ready: (isWriter: boolean) => void;
  /**
   * Gets output. The receiver calls `used` after it has shown the output. While the receiver is paused, the unconfirmed
   * output reaches a limit, and the node sends no more.
   */
  readonly output: (bytes: Uint8Array) => void;
  /** The user `by` types from now on; this console only watches. */
  readonly demoted: (by: string) => void;
  /** Receives a sentence for the user. */
  readonly note: (text: string) => void;
  /** Called once, with the reason. */
  readonly ended: (reason: string) => void;
};

export type Connection = { type(text: string): void; used(bytes: number): void; close(): void };

const LOST = "The connection was lost. Connect again.";

/** Opens the console of an instance. Throws a Refusal if the server gives no ticket. */
export async function connect(
  instance_id: string,
  wanted: ConsoleTicketBody,
  { ready, output, demoted, note, ended }: ConnectionEvents,
): Promise<Connection> {
  const path = `/v1/instances/${instance_id}/console`;
  const key = crypto.randomUUID();
  const { ticket } = await send<ConsoleTicket>("POST", `${path}-ticket`, { body: wanted, key });
  const address = new URL(path, location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(address, consoleProtocols(ticket));
  socket.binaryType = "arraybuffer";
  const window = createSendWindow();
  const used = createReceipts((bytes) => socket.send(controlText({ type: "ack", bytes })));
  const waiting: Uint8Array[] = [];
  let reason = LOST;

  function flush(): void {
    for (let piece = waiting[0]; piece !== undefined; piece = waiting[0]) {
      const part = piece.subarray(0, Math.min(window.room(), CONSOLE_FRAME_BYTES_MAX));
      if (part.length === 0) return;
      socket.send(new Uint8Array(part));
      window.sent(part.length);
      if (part.length === piece.length) waiting.shift();
      else waiting[0] = piece.subarray(part.length);
    }
  }

  function obey(text: string): void {
    const control = parseControl(text);
    switch (control?.type) {
      case "ack":
        window.confirmed(control.bytes);
        return flush();
      case "ready":
        return ready(control.writer);
      case "demoted":
        return demoted(control.by);
      case "skipped":
        return note(`${control.bytes} bytes of output were skipped, because they arrived too fast`);
      case "end":
        reason = control.message;
    }
  }

  socket.addEventListener("message", ({ data }) => {
    if (typeof data === "string") obey(data);
    else output(new Uint8Array(data));
  });
  socket.addEventListener("close", () => ended(reason));
  return {
    type: (text) => {
      if (socket.readyState !== WebSocket.OPEN) return;
      waiting.push(new TextEncoder().encode(text));
      flush();
    },
    used: (bytes) => {
      if (bytes > 0 && socket.readyState === WebSocket.OPEN) used(bytes);
    },
    close: () => {
      reason = "Disconnected.";
      socket.close();
    },
  };
}
