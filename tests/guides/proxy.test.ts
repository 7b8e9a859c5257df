// The guide to several processes behind a proxy: real processes, a real proxy with TLS in front of them.
import { afterEach, beforeEach, expect, test } from "vitest";
import { freePort } from "../../src/db/postgres-process.ts";
import { type FreshDatabase, freshDatabase } from "../harness/database.ts";
import { ROOT_KEY } from "../harness/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../harness/temporary-folder.ts";
import { buildExecutables } from "../processes/executables.ts";
import { berth, hasPrograms, runGuides } from "./run.ts";
import { startTlsProxy, type TlsProxy } from "./tls-proxy.ts";

let database: FreshDatabase;
let folder: TemporaryFolder;
let proxy: TlsProxy | undefined;
beforeEach(async () => {
  await buildExecutables();
  database = await freshDatabase();
  folder = await temporaryFolder("guide-proxy");
}, 300_000);
afterEach(async () => {
  await proxy?.close();
  await database.drop();
  await folder.remove();
});

test("the guide to several processes behind a proxy holds, and both processes were asked", async () => {
  if (!hasPrograms("curl", "openssl")) return;
  const ports = [await freePort(), await freePort()];
  proxy = await startTlsProxy(folder.path, ports);
  const env = {
    BERTH: berth(),
    DATABASE_URL: database.url,
    BERTH_ROOT_KEY: ROOT_KEY,
    OPSCTL_API_KEY: ROOT_KEY,
  };
  const instead = { "8081": String(ports[0]), "8082": String(ports[1]), "8443": String(proxy.port) };
  await runGuides(["proxy"], { folder: folder.path, env, instead });
  for (const port of ports) expect(proxy.answered.get(port)).toBeGreaterThan(0);
}, 300_000);
