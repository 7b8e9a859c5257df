// Serves DNS by TCP to the guests of one router. All routers of a node share one process, so a guest must not use up
// the process's file descriptors or memory. A connection ends if its guest sends no question in time, or does not read
// the answers. The router's ruleset also limits the connections of each guest.
import { ROUTER_CONNECTIONS_MAX } from "../ruleset.ts";
import type { Bun, Listener, TcpSocket } from "./bun.ts";
import { framed, unframed } from "./resolver.ts";

/** Maximum number of bytes of a TCP connection that are kept while a message is incomplete. */
const TCP_BYTES_MAX = 4_096;
/**
 * Maximum number of bytes of answers that wait until the guest reads: room for two answers of the largest size (RFC
 * 1035) with their lengths. A connection with more waiting bytes ends.
 */
const UNSENT_BYTES_MAX = 2 * (2 + 65_535);
/**
 * The number of seconds without a whole question after which a connection ends. RFC 7766 recommends a few seconds, and
 * the resolvers may need some of this time to answer. Incomplete questions do not count, because a guest could send
 * single bytes.
 */
const QUESTION_WAIT_S = 10;

export type DnsConnectionsOptions = {
  readonly bun: Bun;
  readonly hostname: string;
  readonly port: number;
  /** Returns the answer to a query; null for a query that gets no answer. */
  readonly answerTo: (query: Uint8Array) => Promise<Uint8Array | null>;
};

/** Listens in the present network namespace. Throws an Error if the address is in use. */
export function listenForDns({ bun, hostname, port, answerTo }: DnsConnectionsOptions): Listener {
  const open = new Set<TcpSocket>();

  async function onMessage(socket: TcpSocket, message: Uint8Array): Promise<void> {
    const answer = await answerTo(message);
    if (answer === null) socket.end();
    else send(socket, framed(answer));
  }

  // The resolver of a guest may send several queries at once, and must accept the answers in any order (RFC 7766).
  function onData(socket: TcpSocket, data: Uint8Array): void {
    let [message, rest] = unframed(Uint8Array.from([...socket.data.received, ...data]));
    if (message !== undefined) socket.timeout(QUESTION_WAIT_S);
    for (; message !== undefined; [message, rest] = unframed(rest)) void onMessage(socket, message);
    socket.data.received = rest;
    if (rest.length > TCP_BYTES_MAX) socket.end();
  }

  return bun.listen({
    hostname,
    port,
    socket: {
      open: (socket) => {
        socket.data = { received: new Uint8Array(), unsent: new Uint8Array() };
        // The ruleset has the same limit, but its count of connections starts at zero whenever the ruleset is replaced.
        // Only the new connection ends, because the existing connections may belong to other guests.
        if (open.size >= ROUTER_CONNECTIONS_MAX) return socket.terminate();
        open.add(socket);
        socket.timeout(QUESTION_WAIT_S);
      },
      data: onData,
      drain: (socket) => write(socket, socket.data.unsent),
      timeout: (socket) => socket.terminate(),
      close: (socket) => void open.delete(socket),
      error: () => {},
    },
  });
}

function send(socket: TcpSocket, bytes: Uint8Array): void {
  const { unsent } = socket.data;
  if (unsent.length === 0) return write(socket, bytes);
  if (unsent.length + bytes.length > UNSENT_BYTES_MAX) return socket.terminate();
  socket.data.unsent = Buffer.concat([unsent, bytes]);
}

/** Writes the bytes that the kernel takes. Keeps the other bytes until the kernel takes bytes again. */
function write(socket: TcpSocket, bytes: Uint8Array): void {
  // The result is negative if the connection has ended.
  const taken = Math.max(0, socket.write(bytes));
  socket.data.unsent = bytes.slice(taken);
}
