// Opens two servers on this machine for tests of outbound fetches. The first server counts its connections, because no
// fetch may reach it. The second server has another loopback address: a test allows fetches from it and decides its
// answers.
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";

/**
 * The loopback address that tests allow. URLs of the target that no fetch may reach have other addresses, such as
 * 127.0.0.1.
 */
export const ALLOWED_HOST = "127.0.0.2";
export const ALLOWED_RANGE = `${ALLOWED_HOST}/32`;

export type FetchTarget = {
  readonly port: number;
  /** Returns the number of connections to the target, on any address of this machine. */
  connections(): number;
  close(): Promise<void>;
};

/** Listens on every address of this machine, IPv4 and IPv6, and answers as a web server would. */
export async function openFetchTarget(): Promise<FetchTarget> {
  let count = 0;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    count += 1;
    open.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => open.delete(socket));
    socket.end("HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nsecret");
  });
  const port = await listen(server, "::");
  return { port, connections: () => count, close: () => close(server, open) };
}

export type AllowedServer = { readonly url: string; close(): Promise<void> };

export async function openAllowedServer(answer: RequestListener): Promise<AllowedServer> {
  const open = new Set<Socket>();
  const server = createHttpServer(answer);
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  const port = await listen(server, ALLOWED_HOST);
  return { url: `http://${ALLOWED_HOST}:${port}`, close: () => close(server, open) };
}

async function listen(server: Server, host: string): Promise<number> {
  server.listen(0, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function close(server: Server, open: ReadonlySet<Socket>): Promise<void> {
  const closed = once(server, "close");
  server.close();
  for (const socket of open) socket.destroy();
  await closed;
}
