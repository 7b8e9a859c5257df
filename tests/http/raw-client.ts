// Opens a client that sends exactly the given bytes, to test a server with bytes that no proper client sends.
import { connect, type Socket } from "node:net";

export type RawClient = {
  send(text: string): void;
  /** Resolves with the received text when the text contains the piece. Rejects if the connection closes before that. */
  until(piece: string | RegExp): Promise<string>;
  /**
   * Resolves when the server has closed the connection, with the received text and the time since the connection was
   * opened.
   */
  closed(): Promise<{ text: string; after_ms: number }>;
  drop(): void;
  readonly socket: Socket;
};

export async function rawClient(port: number): Promise<RawClient> {
  const socket = connect(port, "127.0.0.1");
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  const start = performance.now();
  let text = "";
  let ended = false;
  const wake = new Set<() => void>();
  const changed = () => wake.forEach((call) => call());
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    changed();
  });
  socket.on("error", () => {}); // A reset counts as closed.
  socket.on("close", () => {
    ended = true;
    changed();
  });
  const when = (met: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!met() && !ended) return;
        wake.delete(look);
        met() ? resolve() : reject(new Error(`closed after ${JSON.stringify(text)}`));
      };
      wake.add(look);
      look();
    });
  return {
    socket,
    send: (bytes) => void socket.write(bytes, "latin1"),
    async until(piece) {
      await when(() => (typeof piece === "string" ? text.includes(piece) : piece.test(text)));
      return text;
    },
    async closed() {
      await when(() => ended);
      return { text, after_ms: performance.now() - start };
    },
    drop: () => void socket.destroy(),
  };
}
