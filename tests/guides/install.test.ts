// Tests the guides to the installation of a control plane and of an image index.
import { randomBytes } from "node:crypto";
import { lstatSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { openClient } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { databaseUrl } from "../support/database-url.ts";
import { ROOT_KEY } from "../support/server-process.ts";
import { needs } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { webFolder } from "../index-builder/recorded-vendor.ts";
import { buildExecutables } from "../processes/executables.ts";
import { settingsIn } from "./guide.ts";
import { packagesIn, WITHOUT_PACKAGES } from "./packages.ts";
import { guidePort } from "./ports.ts";
import { berth, ROOT, runGuides, SESSION } from "./run.ts";

const WANTS = "etc/systemd/system/multi-user.target.wants/berth-control-plane.service";
const TIMER_WANTS = "etc/systemd/system/timers.target.wants/berth-index-builder.timer";

let folder: TemporaryFolder;
beforeEach(async () => {
  await buildExecutables();
  folder = await temporaryFolder("guide-install");
}, 300_000);
afterEach(() => folder.remove());

/**
 * Returns whether the path exists in the root. Does not follow links, because their targets are relative to the
 * machine's own root.
 */
function isIn(root: string, path: string): boolean {
  return lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined;
}

/**
 * Runs the guide's statements for the database administrator. Uses other names, because the tests share one PostgreSQL
 * server. Skips the two roles that migrations use by name, because they exist already.
 */
async function guidesDatabase(): Promise<FreshDatabase & { readonly ownerUrl: string }> {
  const name = `guide_${randomBytes(6).toString("hex")}`;
  const guide = await readFile(join(ROOT, "docs/guides/install.md"), "utf8");
  const [block = expect.fail("the guide creates no database")] = settingsIn(guide, "sql");
  const statements = block.replace(/\bberth(?!_app|_reader)/g, name).split(";").map((each) => each.trim())
    .filter((each) => each !== "" && !/^create role berth_/.test(each));
  const asAdministrator = async (texts: readonly string[]) => {
    const client = await openClient({ url: inject("serverUrl"), statementLimit_ms: 60_000, lockLimit_ms: 60_000 });
    try {
      for (const text of texts) await client.query(text);
    } finally {
      await client.end();
    }
  };
  await asAdministrator(statements);
  const urlOf = (username: string, password: string) =>
    Object.assign(new URL(databaseUrl(inject("serverUrl"), name)), { username, password }).href;
  return {
    url: urlOf(name, "change-this"),
    ownerUrl: urlOf(`${name}_owner`, "change-this-owner"),
    drop: () => asAdministrator([`drop database ${name} with (force)`, `drop role ${name}, ${name}_owner`]),
  };
}

test("the commands of the install guide work, from the database and the packages to a login", async (context) => {
  needs(context, ...SESSION, "curl", "openssl");
  const database = await guidesDatabase();
  try {
    const packages = await packagesIn(join(folder.path, "packages"));
    const urls = { DATABASE_URL: database.url, BERTH_OWNER_DATABASE_URL: database.ownerUrl };
    const env = { BERTH: berth(), ...urls, ...packages?.env };
    const instead = { "8080": String(await guidePort()), ...packages?.instead ?? WITHOUT_PACKAGES };
    await runGuides(["install"], { folder: folder.path, env, instead });
    if (packages === null) return;
    for (const path of ["etc/berth/control-plane.keys", "usr/bin/opsctl", "usr/lib/berth/bin/deno", WANTS]) {
      expect(isIn(packages.root, path), path).toBe(true);
    }
  } finally {
    await database.drop();
  }
}, 300_000);

test("the settings in the package name the database that the guide creates", async () => {
  const settings = await readFile(join(ROOT, "cli/release/files/control-plane.env"), "utf8");
  const guide = await readFile(join(ROOT, "docs/guides/install.md"), "utf8");
  const [block = ""] = settingsIn(guide, "sql");
  for (const variable of ["DATABASE_URL", "BERTH_OWNER_DATABASE_URL"]) {
    const address = new RegExp(`^${variable}=(\\S+)$`, "m").exec(settings)?.[1] ?? expect.fail(variable);
    expect(guide).toContain(`    export ${variable}=${address}\n`);
    const { username, password } = new URL(address);
    expect(block).toContain(`create role ${username} login password '${password}'`);
  }
});

test(
  "the commands of the guide to the image index work, with recorded answers instead of the vendors' servers",
  async (context) => {
    needs(context, ...SESSION, "curl");
    const bin = join(folder.path, "bin");
    await mkdir(bin);
    const program = `#!/bin/sh\nexec "${process.execPath}" run -A --quiet "${ROOT}index-builder/main.ts" "$@"\n`;
    await writeFile(join(bin, "index-builder"), program, { mode: 0o755 });
    const database = await freshDatabase();
    try {
      const packages = await packagesIn(join(folder.path, "packages"));
      const env = {
        PATH: bin,
        BERTH: berth(),
        DATABASE_URL: database.url,
        BERTH_ROOT_KEY: ROOT_KEY,
        BERTH_SECRET_KEY: "5e".repeat(32),
        ...packages?.env,
      };
      const instead = {
        "8080": String(await guidePort()),
        "index-builder all": `index-builder all --recorded ${webFolder("t0")} --at 2026-10-09T05:17:00Z`,
        ...packages?.instead ?? WITHOUT_PACKAGES,
      };
      // The reader must install the package before the timer can be enabled.
      const before = packages === null ? ":" : "sh install.sh index-builder";
      await runGuides(["image-index"], { folder: folder.path, env, instead, before });
      if (packages !== null) expect(isIn(packages.root, TIMER_WANTS)).toBe(true);
    } finally {
      await database.drop();
    }
  },
  300_000,
);
