// Prepares the session of a guide: the executables, a running control plane, and a key of the root operator in the
// environment.
import { buildExecutables } from "../processes/executables.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { LOOPBACK_ALLOWED } from "../support/loopback.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

export type Site = {
  readonly server: ServerProcess;
  readonly folder: string;
  readonly database_url: string;
  /** The variables of a session: the URL of the control plane, and the root operator's key. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
};

export async function openSite(env: Readonly<Record<string, string>> = {}): Promise<Site> {
  await buildExecutables();
  const database: FreshDatabase = await freshDatabase();
  const folder: TemporaryFolder = await temporaryFolder("guide");
  const server = await startServer({ env: { DATABASE_URL: database.url, ...LOOPBACK_ALLOWED, ...env } });
  return {
    server,
    folder: folder.path,
    database_url: database.url,
    env: { OPSCTL_ENDPOINT: server.url, OPSCTL_API_KEY: ROOT_KEY },
    close: async () => {
      await server.kill();
      await database.drop();
      await folder.remove();
    },
  };
}
