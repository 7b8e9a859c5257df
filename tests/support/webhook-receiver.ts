// Receives webhooks for tests: keeps every request, and answers each as the test specifies.
import http from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";

export type ReceivedEvent = {
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** The body, parsed. */
  readonly event: {
    readonly id: string;
    readonly type: string;
    readonly project_id: string;
    readonly resource: string | null;
    readonly data: Readonly<Record<string, unknown>>;
  };
};

/** How to answer a request: with a status, with a redirect, or not at all, like a slow server. */
export type ReceiverAnswer = number | "silence" | { readonly redirect: string };

export type WebhookReceiver = {
  readonly url: string;
  readonly received: ReceivedEvent[];
  /** Chooses the answer to each request. Tests may replace this function. */
  answer: (event: ReceivedEvent) => ReceiverAnswer;
  /** Waits until a received event matches. Throws after `limit_ms`. */
  until(matches: (event: ReceivedEvent) => boolean, limit_ms?: number): Promise<ReceivedEvent>;
  close(): Promise<void>;
};

const LIMIT_MS = 20_000;
const LOOK_MS = 20;

/** Opens a receiver, by default on a free port. */
export async function openReceiver(port = 0): Promise<WebhookReceiver> {
  const sockets = new Set<Socket>();
  const receiver = { url: "", received: [] as ReceivedEvent[], answer: (_event: ReceivedEvent): ReceiverAnswer => 204 };
  const server = http.createServer((request, response) => {
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const event = { headers: request.headers, body, event: JSON.parse(body) };
      receiver.received.push(event);
      const answer = receiver.answer(event);
      if (answer === "silence") return;
      if (typeof answer === "number") return void response.writeHead(answer).end("a body that is not read");
      response.writeHead(302, { location: answer.redirect }).end();
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return Object.assign(receiver, {
    until: async (matches: (event: ReceivedEvent) => boolean, limit_ms = LIMIT_MS) => {
      for (let waited_ms = 0; waited_ms < limit_ms; waited_ms += LOOK_MS) {
        const found = receiver.received.find(matches);
        if (found !== undefined) return found;
        await new Promise((wake) => setTimeout(wake, LOOK_MS));
      }
      throw new Error(`no such event; received: ${receiver.received.map(({ event }) => event.type).join(", ")}`);
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  });
}

/** Opens a server that answers each request with bytes that are not HTTP. Returns its URL. */
export async function openGarbage(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((socket) => void socket.on("data", () => socket.end("garbage, not HTTP\r\n\r\n")));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => void server.close() };
}
