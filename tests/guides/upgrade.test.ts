// The guide to upgrades. The old version is this one with another number: what differs is that two trees serve at once.
import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "vitest";
import { freePort } from "../../src/db/postgres-process.ts";
import { type FreshDatabase, freshDatabase } from "../harness/database.ts";
import { ROOT_KEY } from "../harness/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../harness/temporary-folder.ts";
import { buildExecutables } from "../processes/executables.ts";
import { berth, hasPrograms, ROOT, runGuides } from "./run.ts";

let database: FreshDatabase;
let folder: TemporaryFolder;
beforeEach(async () => {
  await buildExecutables();
  database = await freshDatabase();
  folder = await temporaryFolder("guide-upgrade");
}, 300_000);
afterEach(async () => {
  await database.drop();
  await folder.remove();
});

async function olderTree(): Promise<string> {
  const place = join(folder.path, "old");
  for (const name of ["src", "actors", "migrations", "deno.json", "deno.lock"]) {
    await cp(join(ROOT, name), join(place, name), { recursive: true });
  }
  await symlink(join(ROOT, "node_modules"), join(place, "node_modules"));
  const manifest = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  await writeFile(join(place, "package.json"), JSON.stringify({ ...manifest, version: "0.0.1" }));
  return place;
}

test("the guide to upgrades holds: two versions serve one database, and each can go", async () => {
  if (!hasPrograms("curl")) return;
  const before = `
PORT=8081 deno run -A "$BERTH_OLD/src/serve.ts" > old.log 2>&1 &
old=$!
curl -fsS --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:8081/readyz
export OPSCTL_ENDPOINT=http://127.0.0.1:8081
`;
  const env = {
    BERTH: berth(),
    BERTH_OLD: await olderTree(),
    DATABASE_URL: database.url,
    BERTH_ROOT_KEY: ROOT_KEY,
    BERTH_SECRET_KEY: "5e".repeat(32),
    OPSCTL_API_KEY: ROOT_KEY,
  };
  const instead = { "8081": String(await freePort()), "8082": String(await freePort()) };
  await runGuides(["upgrade"], { folder: folder.path, env, instead, before });
}, 300_000);
