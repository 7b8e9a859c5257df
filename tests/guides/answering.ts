// Starts servers in place of control planes, for tests of the guides' proxies.
import { once } from "node:events";
import { createServer, type Server } from "node:http";

/** Sessions of the web console. There are so many that a proxy sends some of them to each process. */
export const SESSIONS = Array.from({ length: 16 }, (_, session) => session);

/** Starts a server that answers each request with 200 and its port. */
export async function answering(port: number): Promise<Server> {
  const server = createServer((_, response) => response.end(String(port)));
  await once(server.listen(port, "127.0.0.1"), "listening");
  return server;
}

export async function away(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
}
