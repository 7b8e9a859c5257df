// Runs two servers on one database. A test can kill and restart each of them while clients use both.
import { type ServerProcess, startServer } from "../support/server-process.ts";

/** The killed server, and the time of the kill by performance.now(). */
export type Killed = { readonly url: string; readonly at_ms: number };

export type Pair = {
  /** The URLs of the running servers. */
  urls(): readonly string[];
  /** Kills one of the two servers with SIGKILL. */
  kill(index: 0 | 1): Promise<Killed>;
  /** Restarts the killed server, on another port. */
  restart(index: 0 | 1): Promise<void>;
  /** Returns the logs of the servers that ended although the test did not kill them. */
  ended(): readonly string[];
  /** Kills both servers. */
  end(): Promise<void>;
  log(): string;
};

export async function startPair(env: Readonly<Record<string, string>>): Promise<Pair> {
  const start = () => startServer({ env });
  const servers: ServerProcess[] = await Promise.all([start(), start()]);
  const killed = new Set<ServerProcess>();
  return {
    urls: () => servers.filter((server) => server.isRunning()).map((server) => server.url),
    async kill(index) {
      const server = servers[index]!;
      killed.add(server);
      const at_ms = performance.now();
      await server.kill();
      return { url: server.url, at_ms };
    },
    async restart(index) {
      servers[index] = await start();
    },
    ended: () =>
      servers.filter((server) => !server.isRunning() && !killed.has(server))
        .map((server) => `a server ended that was not killed: ${server.log()}`),
    async end() {
      await Promise.all(servers.map((server) => server.kill()));
    },
    log: () => [...killed, ...servers].map((server) => server.log()).join("\n---\n"),
  };
}

/** Kills one of the two servers at random, and restarts it. */
export async function killEither(pair: Pair): Promise<Killed> {
  const index = Math.random() < 0.5 ? 0 : 1;
  const killed = await pair.kill(index);
  await pair.restart(index);
  return killed;
}
