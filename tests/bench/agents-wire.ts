// Opens an HTTP/1.1 client with one keep-alive connection and one request at a time. The client uses little memory,
// because ten thousand simulated agents and the measured server share a machine.
import { Buffer } from "node:buffer";

export type WireCall = {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly key: string;
  readonly body?: unknown;
  readonly limit_ms: number;
};

export type WireAnswer = { readonly status: number; readonly body: unknown };

export type Wire = {
  /**
   * Sends a request. Returns null if no reply comes in time, or if the connection is refused or cut. After such a
   * failure, the next call connects to the next server.
   */
  ask(call: WireCall): Promise<WireAnswer | null>;
  close(): void;
};

export type WireOptions = {
  /** The ports of the servers on this machine. After a failed call, the client changes to the next port. */
  readonly ports: readonly number[];
  /** Whether each call opens a new connection. */
  readonly once?: boolean;
};

/** The size of the receive buffer, which each waiting connection has. Most replies are shorter. */
const RECEIVE_BYTES = 2_048;
const encoder = new TextEncoder();

export function openWire({ ports, once = false }: WireOptions): Wire {
  let turn = 0;
  let socket: Deno.Conn | null = null;
  let closed = false;

  function drop(): void {
    try {
      socket?.close();
    } catch {
      // The socket is already closed: both the time limit and the caller can close it.
    }
    socket = null;
  }

  async function ask(call: WireCall): Promise<WireAnswer | null> {
    if (closed) return null;
    const limit = setTimeout(drop, call.limit_ms);
    try {
      const open = socket ??= await Deno.connect({ hostname: "127.0.0.1", port: ports[turn % ports.length] ?? 0 });
      await writeAll(open, requestOf(call, once));
      const answer = await readAnswer(open);
      if (once) drop();
      return answer;
    } catch {
      drop();
      turn += 1;
      return null;
    } finally {
      clearTimeout(limit);
    }
  }

  return {
    ask,
    close: () => {
      closed = true;
      drop();
    },
  };
}

function requestOf({ method, path, key, body }: WireCall, once: boolean): Uint8Array {
  const text = body === undefined ? "" : JSON.stringify(body);
  const content = body === undefined
    ? ""
    : `content-type: application/json\r\ncontent-length: ${encoder.encode(text).length}\r\n`;
  return encoder.encode(
    `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\nuser-agent: light-agent\r\n` +
      `authorization: Bearer ${key}\r\n${once ? "connection: close\r\n" : ""}${content}\r\n${text}`,
  );
}

async function writeAll(socket: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await socket.write(bytes.subarray(at));
}

/** Reads one reply. Throws if the connection ends before the reply is complete. */
async function readAnswer(socket: Deno.Conn): Promise<WireAnswer> {
  let buffer = new Uint8Array(RECEIVE_BYTES);
  let filled = 0;
  for (;;) {
    if (filled === buffer.length) {
      const larger = new Uint8Array(buffer.length * 2);
      larger.set(buffer);
      buffer = larger;
    }
    const count = await socket.read(buffer.subarray(filled));
    if (count === null) throw new Error("the server closed the connection");
    filled += count;
    const answer = parse(Buffer.from(buffer.buffer, 0, filled));
    if (answer !== null) return answer;
  }
}

/** Parses a reply. Returns null while it is incomplete. The server sends Content-Length with every body. */
function parse(received: Buffer): WireAnswer | null {
  const head_bytes = received.indexOf("\r\n\r\n");
  if (head_bytes < 0) return null;
  const head = received.toString("latin1", 0, head_bytes);
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  const start = head_bytes + 4;
  if (received.length < start + length) return null;
  const text = received.toString("utf8", start, start + length);
  return { status, body: text === "" ? null : JSON.parse(text) };
}
