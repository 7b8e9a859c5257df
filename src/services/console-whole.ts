// Reads a log or a screen for one request. The relay treats the reader as the caller's end of a console. The reader
// collects the bytes that arrive.
import type { ServerSocket, SocketListener } from "../http/websocket.ts";
import { controlText, parseControl } from "../lib/console/frames.ts";
import { createReceipts } from "../lib/console/window.ts";

export type WholeReader = {
  /** The caller's end for the relay. */
  readonly socket: ServerSocket;
  /** The bytes, or a message that says why they cannot be read. */
  readonly read: Promise<{ readonly bytes: Uint8Array<ArrayBuffer> } | { readonly message: string }>;
  /** Stops reading, and closes the node's connection. */
  leave(): void;
};

/** @param bytes_max largest number of bytes that the node may send */
export function createWholeReader(bytes_max: number): WholeReader {
  const { promise: read, resolve } = Promise.withResolvers<Awaited<WholeReader["read"]>>();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let listener: SocketListener | undefined;
  const confirm = createReceipts((bytes) => listener?.onText(controlText({ type: "ack", bytes })));

  function take(bytes: Uint8Array): void {
    size += bytes.length;
    if (size > bytes_max) return resolve({ message: `the node sent more than ${bytes_max} bytes` });
    chunks.push(bytes);
    confirm(bytes.length);
  }

  function obey(text: string): void {
    const control = parseControl(text);
    if (control?.type === "done") resolve({ bytes: joined(chunks, size) });
    if (control?.type === "end") resolve({ message: control.message });
  }

  return {
    read,
    socket: {
      send: (data) => typeof data === "string" ? obey(data) : take(data),
      buffered: () => 0,
      close: (_code, message) => resolve({ message }),
      listen: (given) => listener = given,
    },
    leave: () => listener?.onClose(),
  };
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
