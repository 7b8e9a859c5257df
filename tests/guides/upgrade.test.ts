// Tests the upgrade guide. Processes of an older version and of this version share a database. This version migrates
// the database.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openClient } from "../../src/db/pool.ts";
import { emptyDatabase, type FreshDatabase } from "../support/database.ts";
import { ROOT_KEY } from "../support/server-process.ts";
import { needs } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { buildExecutables } from "../processes/executables.ts";
import { makeOlderTree, migrationsIn } from "./older-tree.ts";
import { guidePort } from "./ports.ts";
import { berth, ROOT, runGuides, SESSION } from "./run.ts";

let database: FreshDatabase;
let folder: TemporaryFolder;
beforeEach(async () => {
  await buildExecutables();
  database = await emptyDatabase();
  folder = await temporaryFolder("guide-upgrade");
}, 300_000);
afterEach(async () => {
  await database.drop();
  await folder.remove();
});

async function applied(): Promise<string[]> {
  const client = await openClient({ url: database.url });
  try {
    const { rows } = await client.query("select name from schema_migration order by number");
    return rows.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

test(
  "the commands of the upgrade guide work: two versions serve one database, and each can be stopped",
  async (context) => {
    needs(context, ...SESSION, "curl", "tar");
    const old = join(folder.path, "old");
    await makeOlderTree(old);
    const before = `
PORT=8081 deno run -A "$BERTH_OLD/src/serve.ts" > old.log 2>&1 &
old=$!
curl -fsS --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:8081/readyz
export OPSCTL_ENDPOINT=http://127.0.0.1:8081
`;
    const env = {
      BERTH: berth(),
      BERTH_OLD: old,
      DATABASE_URL: database.url,
      BERTH_ROOT_KEY: ROOT_KEY,
      BERTH_SECRET_KEY: "5e".repeat(32),
      OPSCTL_API_KEY: ROOT_KEY,
    };
    const instead = {
      "8081": String(await guidePort()),
      "8082": String(await guidePort()),
      // The older version may have no `doctor` command.
      ...(existsSync(join(old, "src/doctor")) ? {} : { "opsctl doctor\nopsctl operation": "opsctl operation" }),
    };
    await runGuides(["upgrade"], { folder: folder.path, env, instead, before });
    // The older version created the database, possibly without the newest migrations. By now, the newer version must
    // have applied them.
    expect(await applied()).toEqual(migrationsIn(ROOT));
  },
  300_000,
);
