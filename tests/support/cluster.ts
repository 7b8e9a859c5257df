// Starts a PostgreSQL server for one test. The test can kill and restart the server. By default the server flushes its
// data to the disk.
import process from "node:process";
import { type EmbeddedOptions, type EmbeddedPostgres, startEmbedded } from "../../src/db/embedded.ts";
import { freePort } from "../../src/db/postgres-process.ts";
import { databaseFolder } from "./temporary-folder.ts";

export type OwnCluster = {
  /** The superuser's URL, for creating databases and roles. A restart does not change the URL. */
  readonly url: string;
  readonly dataDir: string;
  pid(): number;
  /** Signals the server and waits for its end. SIGINT is a fast stop, SIGQUIT an immediate stop. */
  kill(signal: "SIGINT" | "SIGQUIT" | "SIGKILL"): Promise<void>;
  /** Starts the server again after a kill. */
  restart(): Promise<void>;
  /** Stops the server and removes its files. */
  remove(): Promise<void>;
};

export async function ownCluster(settings: EmbeddedOptions["settings"] = {}): Promise<OwnCluster> {
  const folder = await databaseFolder("cluster");
  const options = { dataDir: folder.path, port: await freePort(), settings, superuser: true };
  let server: EmbeddedPostgres = await startEmbedded(options);
  return {
    url: server.superuserUrl!,
    dataDir: folder.path,
    pid: () => server.pid,
    async kill(signal) {
      process.kill(server.pid, signal);
      await server.ended;
      await server.stop(); // Releases the lock of the folder.
    },
    async restart() {
      server = await startEmbedded(options);
    },
    async remove() {
      await server.stop();
      await folder.remove();
    },
  };
}
