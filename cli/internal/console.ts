// Opens the console of an instance with a ticket, and passes bytes until one side closes the console.
import type { ConsoleTicket, ConsoleTicketBody } from "../../src/contract/console.ts";
import { CONSOLE_FRAME_BYTES_MAX } from "../../src/contract/limits.ts";
import { consoleProtocols, controlText, parseControl } from "../../src/lib/console/frames.ts";
import { createReceipts, createSendWindow } from "../../src/lib/console/window.ts";
import { EXIT } from "./exit-code.ts";
import { Failure } from "./failure.ts";
import type { Io } from "./io.ts";

export type ConsoleEvents = {
  /** Called when the node is connected. */
  readonly ready: (writer: boolean) => void;
  readonly output: (bytes: Uint8Array) => void;
  /** Receives a sentence for the user. */
  readonly note: (line: string) => void;
};

export type Console = {
  /**
   * Sends typed bytes. Resolves when all bytes were sent or the console has ended. Sending takes longer if the other
   * end of the console is slow.
   */
  type(bytes: Uint8Array): Promise<void>;
  /** Closes the console. */
  leave(): void;
  /** Resolves after `leave`. If the console ends for another reason, rejects with a Failure that gives the reason. */
  readonly ended: Promise<void>;
};

/** Opens the console of the instance at `path`. Throws a Failure if the control plane refuses. */
export async function openConsole(
  io: Pick<Io, "environment" | "connection" | "post">,
  { path, wanted }: { readonly path: string; readonly wanted: ConsoleTicketBody },
  { ready, output, note }: ConsoleEvents,
): Promise<Console> {
  const { endpoint } = await io.connection();
  const { signal } = io.environment;
  const { ticket } = await io.post<ConsoleTicket>(`${path}/console-ticket`, wanted);
  const options = { protocols: consoleProtocols(ticket), headers: {}, signal };
  const socket = await io.environment.dial(`${endpoint}${path}/console`, options);
  const window = createSendWindow();
  const used = createReceipts((bytes) => socket.send(controlText({ type: "ack", bytes })));
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  let said: string | null = null;
  let wake = () => {};
  let over = false;

  function obey(text: string): void {
    const control = parseControl(text);
    switch (control?.type) {
      case "ack":
        window.confirmed(control.bytes);
        return wake();
      case "ready":
        return ready(control.writer);
      case "demoted":
        return note(`${control.by} took the console over; you only watch now`);
      case "skipped":
        return note(`(${control.bytes} bytes of output were skipped, because they arrived too fast)`);
      case "end":
        said = control.message;
    }
  }

  const leave = () => {
    over = true;
    socket.close();
    resolve();
    wake();
  };
  signal.addEventListener("abort", leave, { once: true });
  socket.listen({
    onData: (bytes) => {
      output(bytes);
      used(bytes.length);
    },
    onText: obey,
    onClose: (reason) => {
      over = true;
      signal.removeEventListener("abort", leave);
      wake();
      const why = said ??
        (reason === "" ? "the connection to the control plane was lost. Open the console again" : reason);
      reject(new Failure(why, EXIT.failure));
    },
  });

  async function type(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && !over;) {
      const piece = bytes.subarray(at, at + Math.min(window.room(), CONSOLE_FRAME_BYTES_MAX));
      if (piece.length === 0) {
        await new Promise<void>((go) => wake = go);
        continue;
      }
      socket.send(piece);
      window.sent(piece.length);
      at += piece.length;
    }
  }

  return { type, leave, ended };
}
