// The guides to installing a control plane and to the image index beside it.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, test } from "vitest";
import { freePort } from "../../src/db/postgres-process.ts";
import { type FreshDatabase, freshDatabase } from "../harness/database.ts";
import { ROOT_KEY } from "../harness/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../harness/temporary-folder.ts";
import { webFolder } from "../index-builder/recorded-vendor.ts";
import { buildExecutables } from "../processes/executables.ts";
import { berth, hasPrograms, ROOT, runGuides } from "./run.ts";

let database: FreshDatabase;
let folder: TemporaryFolder;
beforeEach(async () => {
  await buildExecutables();
  database = await freshDatabase();
  folder = await temporaryFolder("guide-install");
}, 300_000);
afterEach(async () => {
  await database.drop();
  await folder.remove();
});

test("the guide to installing holds: from a database to an operator who is logged in", async () => {
  if (!hasPrograms("curl", "openssl")) return;
  const env = { BERTH: berth(), DATABASE_URL: database.url };
  await runGuides(["install"], { folder: folder.path, env, instead: { "8080": String(await freePort()) } });
}, 300_000);

test("the guide to the image index holds, with a recorded web in place of the vendors'", async () => {
  if (!hasPrograms("curl")) return;
  const bin = join(folder.path, "bin");
  await mkdir(bin);
  const program = `#!/bin/sh\nexec "${process.execPath}" run -A --quiet "${ROOT}index-builder/main.ts" "$@"\n`;
  await writeFile(join(bin, "index-builder"), program, { mode: 0o755 });
  const env = {
    PATH: bin,
    BERTH: berth(),
    DATABASE_URL: database.url,
    BERTH_ROOT_KEY: ROOT_KEY,
    BERTH_SECRET_KEY: "5e".repeat(32),
  };
  const instead = {
    "8080": String(await freePort()),
    "index-builder all": `index-builder all --recorded ${webFolder("t0")} --at 2026-10-09T05:17:00Z`,
  };
  await runGuides(["image-index"], { folder: folder.path, env, instead });
}, 300_000);
