// Forwards TCP connections between the loopback addresses of this machine and of a network namespace. Usage in a
// namespace: `forward.ts FROM_HOST TO_HOST PORT...`.
import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";
import process from "node:process";

/** Forwards connections to `from` on each port to the same port of `to`. */
export async function forward(from: string, to: string, ports: readonly number[]): Promise<readonly Server[]> {
  return await Promise.all(ports.map(async (port) => {
    const server = createServer((incoming) => {
      const outgoing = connect(port, to);
      incoming.pipe(outgoing).pipe(incoming);
      for (const [one, other] of [[incoming, outgoing], [outgoing, incoming]] as const) {
        one.on("error", () => other.destroy());
        one.on("close", () => other.destroy());
      }
    });
    server.listen(port, from);
    await once(server, "listening");
    return server;
  }));
}

if (import.meta.main) {
  const [from = "", to = "", ...ports] = process.argv.slice(2);
  await forward(from, to, ports.map(Number));
  console.log("ready");
}
