// Two servers on one database, each of which may be killed and replaced while clients talk to both.
import { type ServerProcess, startServer } from "../harness/server-process.ts";

export type Pair = {
  /** Of the servers that run now. */
  urls(): readonly string[];
  /** kill -9 of one of the two; the other stays. */
  kill(index: 0 | 1): Promise<void>;
  /** Starts the killed one again, on another port. */
  restart(index: 0 | 1): Promise<void>;
  /** Kills both. */
  end(): Promise<void>;
  log(): string;
};

export async function startPair(env: Readonly<Record<string, string>>): Promise<Pair> {
  const start = () => startServer({ env });
  const servers: ServerProcess[] = await Promise.all([start(), start()]);
  const logs: string[] = [];
  return {
    urls: () => servers.filter((server) => server.isRunning()).map((server) => server.url),
    async kill(index) {
      logs.push(servers[index]!.log());
      await servers[index]!.kill();
    },
    async restart(index) {
      servers[index] = await start();
    },
    async end() {
      await Promise.all(servers.map((server) => server.kill()));
    },
    log: () => [...logs, ...servers.map((server) => server.log())].join("\n---\n"),
  };
}

/** Kills one of the two and starts it again. */
export async function killEither(pair: Pair): Promise<void> {
  const index = Math.random() < 0.5 ? 0 : 1;
  await pair.kill(index);
  await pair.restart(index);
}
