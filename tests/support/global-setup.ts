// Starts one database server per run, with a migrated database that every test file copies. The server does not flush
// its data to the disk, because the data is deleted after the run. Temporary files of tests are in one folder, which is
// deleted, too.
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import type { TestProject } from "vitest/node";
import { startEmbedded } from "../../src/db/embedded.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openClient } from "../../src/db/pool.ts";
import { databaseUrl, TEMPLATE } from "./database-url.ts";
import { databaseFolder, RUN_PLACE, temporaryFolder } from "./temporary-folder.ts";

const SETTINGS = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_connections: "200",
  max_wal_size: "256MB",
};

/** Time limit to create the template database. */
const CREATE_LIMIT_MS = 60_000;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await temporaryFolder("test-run");
  const temporary = join(folder.path, "tmp");
  await mkdir(temporary);
  // Some tests run programs as another user, who may enter the folder but not list it.
  for (const path of [folder.path, temporary]) await chmod(path, 0o711);
  process.env.TMPDIR = temporary;
  const data = await databaseFolder("test-server");
  await chmod(data.path, 0o711);
  process.env[RUN_PLACE] = data.path;
  const server = await startEmbedded({ dataDir: join(data.path, "server"), settings: SETTINGS, superuser: true });
  const serverUrl = server.superuserUrl!;
  // The new server writes the files of the template database. A busy machine needs more than the default 5 s for this.
  const client = await openClient({ url: serverUrl, statementLimit_ms: CREATE_LIMIT_MS });
  await client.query(`create database ${TEMPLATE}`);
  await client.end();
  await migrate(databaseUrl(serverUrl, TEMPLATE));
  project.provide("serverUrl", serverUrl);
  return async () => {
    await server.stop();
    await data.remove();
    await folder.remove();
  };
}
