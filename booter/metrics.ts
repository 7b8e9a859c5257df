// Serves metrics and health on loopback only, because they reveal details of the site.
import { createServer } from "node:http";
import type { Counters } from "./counters.ts";
import { listenOn } from "./tcp-port.ts";

export type MetricsOptions = {
  readonly port: number;
  readonly counters: Counters;
  /** Whether the control plane answered the last call. */
  readonly healthy: () => boolean;
};

export async function openMetrics({ port, counters, healthy }: MetricsOptions) {
  const server = createServer((req, res) => {
    const answer = (status: number, type: string, text: string) => {
      res.writeHead(status, { "content-type": type, "content-length": bytesOf(text) });
      res.end(req.method === "HEAD" ? undefined : text);
    };
    if (req.url === "/metrics") return answer(200, "text/plain; version=0.0.4", counters.text());
    // The booter works without the control plane, so the status of the booter is always ok. A field shows whether the
    // control plane answered the last call.
    if (req.url === "/health") {
      return answer(
        200,
        "application/json",
        `${JSON.stringify({ status: "ok", control_plane: healthy() ? "reached" : "away" })}\n`,
      );
    }
    answer(404, "text/plain", "not found\n");
  });
  return {
    port: await listenOn(server, { port, address: "127.0.0.1" }),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
