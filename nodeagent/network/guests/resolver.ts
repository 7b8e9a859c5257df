// Forwards a guest's DNS query to the configured DNS servers, from the node's own namespace. Each question has its own
// port and id, so that an attacker cannot guess both and answer first.
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createConnection } from "node:net";

/** Time for one DNS server to answer, and the number of possible ids of a question (16 bits). */
const ANSWER_LIMIT_MS = 2_000;
const DNS_PORT = 53;
const ID_MAX = 65_536;

export type Transport = "udp" | "tcp";

/** Returns the answer of the first server that answers; null if no server answers. */
export async function resolve(
  query: Uint8Array,
  resolvers: readonly string[],
  transport: Transport,
): Promise<Uint8Array | null> {
  for (const server of resolvers) {
    const id = randomInt(ID_MAX);
    const asked = Uint8Array.from([id >> 8, id & 255, ...query.subarray(2)]);
    const answer = await (transport === "udp" ? askByUdp(asked, server) : askByTcp(asked, server));
    if (answer !== null) return Uint8Array.from([...query.subarray(0, 2), ...answer.subarray(2)]);
  }
  return null;
}

function askByUdp(query: Uint8Array, server: string): Promise<Uint8Array | null> {
  return new Promise((done) => {
    const socket = createSocket(server.includes(":") ? "udp6" : "udp4");
    const end = (answer: Uint8Array | null) => {
      clearTimeout(timer);
      try {
        socket.close();
      } catch {
        // The socket is already closed.
      }
      done(answer);
    };
    const timer = setTimeout(end, ANSWER_LIMIT_MS, null);
    socket.on("message", (answer) => isAnswerTo(query, answer) && end(answer));
    socket.once("error", () => end(null));
    // A connected socket receives only from this server.
    socket.connect(DNS_PORT, server, () => socket.send(query));
  });
}

function askByTcp(query: Uint8Array, server: string): Promise<Uint8Array | null> {
  return new Promise((done) => {
    let received: Uint8Array = new Uint8Array();
    const socket = createConnection({ host: server, port: DNS_PORT });
    const end = (answer: Uint8Array | null) => {
      socket.destroy();
      done(answer);
    };
    socket.setTimeout(ANSWER_LIMIT_MS, () => end(null));
    socket.once("error", () => end(null));
    socket.once("close", () => done(null));
    socket.once("connect", () => socket.write(framed(query)));
    socket.on("data", (bytes: Uint8Array) => {
      received = Uint8Array.from([...received, ...bytes]);
      const [message] = unframed(received);
      if (message !== undefined) end(isAnswerTo(query, message) ? message : null);
    });
  });
}

function isAnswerTo(query: Uint8Array, answer: Uint8Array): boolean {
  return answer.length > 2 && answer[0] === query[0] && answer[1] === query[1] && (answer[2]! & 0x80) !== 0;
}

/** Returns the message with its length of 2 bytes in front, as DNS over TCP requires. */
export function framed(message: Uint8Array): Uint8Array {
  return Uint8Array.from([message.length >> 8, message.length & 255, ...message]);
}

/** Returns the first whole message of a TCP stream, and the bytes after it. */
export function unframed(received: Uint8Array): [Uint8Array | undefined, Uint8Array] {
  const length = received.length < 2 ? Infinity : received[0]! * 256 + received[1]!;
  return received.length < 2 + length
    ? [undefined, received]
    : [received.subarray(2, 2 + length), received.subarray(2 + length)];
}
