// The server process listens for requests, and drains on SIGTERM. With `task start`, start.ts is its parent. start.ts
// starts the outbound process, and PostgreSQL if DATABASE_URL is not set. Without start.ts, the server itself fetches
// documents, starts PostgreSQL if DATABASE_URL is not set, and needs every permission.
import { getLogger } from "@logtape/logtape";
import process from "node:process";
import { readConfig } from "./config.ts";
import { readHandover, withHandover } from "./handover.ts";
import { remoteDocumentFetch } from "./outbound/remote.ts";
import { startEmbedded } from "./db/embedded.ts";
import { serveNode } from "./http/node-server.ts";
import { answerDeno } from "./http/websocket-deno.ts";
import { readTls } from "./http/tls-files.ts";
import { followTls } from "./http/tls-follow.ts";
import { startDevNodes } from "./dev/nodes.ts";
import { configureLogging } from "./logging.ts";
import { isLoopback } from "./lib/net/client-address.ts";
import { startFailure } from "./start-failure.ts";
import { variableNames, warnOfUnknownVariables } from "./unknown-variables.ts";
import { openControlPlane } from "./wiring.ts";

/** The time in which running requests must finish during a drain. Deno.serve has no such limit. */
const DRAIN_MS = 10_000;

const logger = getLogger(["berth"]);

async function serve(): Promise<void> {
  const handed = await readHandover();
  const config = readConfig(withHandover(process.env, handed));
  await configureLogging(config.logLevel);
  warnOfUnknownVariables(logger, handed?.variables ?? variableNames());
  const tls = config.tls === null ? null : await readTls(config.tls);
  const embedded = config.databaseUrl === null
    ? await startEmbedded({ dataDir: config.dataDir, note: (text) => logger.info(text) })
    : null;
  const plane = await openControlPlane({
    config: embedded === null ? config : { ...config, ownerUrl: embedded.ownerUrl },
    databaseUrl: config.databaseUrl ?? embedded?.url ?? "",
    resident: true,
    fetchDocument: handed === null ? undefined : remoteDocumentFetch(handed.fetcher),
  });
  // Deno.serve cannot replace its certificate while it runs, so TLS always uses the Node server.
  const server = config.behindProxy && tls === null ? serveDeno() : await serveEdge();
  const url = `http${tls === null ? "" : "s"}://${
    config.host.includes(":") ? `[${config.host}]` : config.host
  }:${server.port}`;
  const nodes = startDevNodes({ count: config.labNodes, endpoint: url, dataDir: config.dataDir });
  if (tls === null && !config.behindProxy && !isLoopback(config.host)) {
    logger.warning("keys and passwords cross the network unencrypted: set BERTH_TLS_CERT and BERTH_TLS_KEY", { url });
  }
  async function serveEdge() {
    const edge = await serveNode({
      fetch: plane.fetch,
      admitBody: plane.admitBody,
      trustedProxies: config.trustedProxies,
      shares: true,
      hostname: config.host,
      port: config.port,
      tls,
      limits: { connections_max: config.connectionsMax },
    });
    if (config.tls === null || tls === null) return edge;
    const following = followTls(config.tls, { first: tls, use: edge.useTls, log: logger });
    return {
      port: edge.port,
      close: async (graceMs: number) => {
        following.stop();
        await edge.close(graceMs);
      },
    };
  }

  function serveDeno() {
    const running = Deno.serve(
      { hostname: config.host, port: config.port, onListen: () => {} },
      (request, info) => {
        const remoteAddress = "hostname" in info.remoteAddr ? info.remoteAddr.hostname : undefined;
        return answerDeno(request, (upgrade) => plane.fetch(request, { remoteAddress, upgrade }));
      },
    );
    return { port: running.addr.port, close: (_graceMs: number) => running.shutdown() };
  }

  let stopping = false;
  async function stop(exitCode: number): Promise<void> {
    if (stopping) return;
    stopping = true;
    logger.info("draining");
    nodes.stop();
    // Answers the long polls first, because the drain would wait for them.
    plane.release();
    await server.close(DRAIN_MS);
    await plane.close();
    await embedded?.stop();
    logger.info("stopped");
    process.exit(exitCode);
  }
  process.on("SIGTERM", () => void stop(0));
  process.on("SIGINT", () => void stop(0));
  void handed?.stopped.then(() => stop(0));
  void handed?.ended.then(() => stop(1));
  void embedded?.ended.then((why) => {
    if (stopping) return;
    logger.error("the embedded PostgreSQL exited", { why });
    void stop(1);
  });
  // Logged last, because a process that waits for this line may send a signal at once.
  logger.info("listening", {
    url,
    database: embedded === null && handed?.embedded !== true ? "DATABASE_URL" : "embedded",
  });
}

try {
  await serve();
} catch (error) {
  console.error(`berth: ${startFailure(error)}`);
  process.exit(1);
}
