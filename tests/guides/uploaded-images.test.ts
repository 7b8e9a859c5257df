// Tests the guide to images that tenants upload, with a real server.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { needs } from "../support/optional-programs.ts";
import { ROOT_KEY } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { buildExecutables } from "../processes/executables.ts";
import { guidePort } from "./ports.ts";
import { berth, runGuides, SESSION } from "./run.ts";

let database: FreshDatabase;
let folder: TemporaryFolder;
beforeEach(async () => {
  await buildExecutables();
  database = await freshDatabase();
  folder = await temporaryFolder("guide-uploads");
}, 300_000);
afterEach(async () => {
  await database.drop();
  await folder.remove();
});

test(
  "the commands of the guide to uploaded images work, and the image store's folder has the uploaded image",
  async (context) => {
    needs(context, ...SESSION, "curl");
    const env = {
      BERTH: berth(),
      DATABASE_URL: database.url,
      BERTH_SECRET_KEY: "5e".repeat(32),
      BERTH_ROOT_KEY: ROOT_KEY,
      OPSCTL_API_KEY: ROOT_KEY,
    };
    const instead = { "8081": String(await guidePort()) };
    await runGuides(["uploaded-images"], { folder: folder.path, env, instead });
    expect(await readdir(join(folder.path, "images"))).toHaveLength(1);
  },
  300_000,
);
