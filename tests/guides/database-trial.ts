// Tests the guides that need PostgreSQL's tools: backup, restore and point-in-time recovery, and failover to a standby.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, type TestContext } from "vitest";
import { ROOT_KEY } from "../support/server-process.ts";
import { needs } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { buildExecutables } from "../processes/executables.ts";
import { settingsIn } from "./guide.ts";
import { endServers, installedPostgres } from "./postgres.ts";
import { guidePort } from "./ports.ts";
import { berth, ROOT, runGuides, SESSION } from "./run.ts";

/** The guide's folder for the archived log. The tests replace it with a folder of their own. */
const ARCHIVE = "/var/backups/berth";
/** The settings of the backup guide. */
const [archiving = expect.fail("the backup guide has no settings")] = settingsIn(
  await readFile(join(ROOT, "docs/guides/backup.md"), "utf8"),
  "ini",
);

/**
 * Starts a server that archives its log. The server does not flush data to the disk, because no data is needed after
 * the test.
 */
const PRIMARY = `
initdb -D primary -U berth --auth=trust --encoding=UTF8 --no-sync > /dev/null
mkdir archive
cat >> primary/postgresql.conf <<END
port = 5432
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
${archiving.replaceAll("$", "\\$").replaceAll(ARCHIVE, "$PWD/archive")}
END
pg_ctl -D primary -w -l primary.log start
psql -X postgres://berth@127.0.0.1:5432/postgres -c "create database berth"
export DATABASE_URL=postgres://berth@127.0.0.1:5432/berth
PORT=8081 deno run -A "$BERTH/src/serve.ts" > api.log 2>&1 &
api=$!
curl -fsS --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:8081/readyz
export OPSCTL_ENDPOINT=http://127.0.0.1:8081
`;
/**
 * Writes the setting of a site with a synchronous standby to postgresql.auto.conf, which a base backup copies. The
 * primary does not read it, so its own commits do not wait.
 */
const SYNCHRONOUS = `
psql -X "$DATABASE_URL" -c "alter system set synchronous_standby_names = '*'"
`;
const PORTS = ["5432", "5433", "5434", "8081", "8082"];

let folder: TemporaryFolder;
beforeEach(async () => {
  await buildExecutables();
  folder = await temporaryFolder("guide-database");
}, 300_000);
afterEach(async () => {
  await endServers(folder.path);
  await folder.remove();
});

async function atDatabase(context: TestContext, guide: string, before = PRIMARY): Promise<void> {
  needs(context, ...SESSION, "curl", "PostgreSQL's tools");
  const postgres = await installedPostgres(context);
  const free = await Promise.all(PORTS.map(async (port) => [port, String(await guidePort())] as const));
  await runGuides([guide], {
    folder: folder.path,
    env: {
      PATH: postgres.folder,
      BERTH: berth(),
      BERTH_ROOT_KEY: ROOT_KEY,
      BERTH_SECRET_KEY: "5e".repeat(32),
      OPSCTL_API_KEY: ROOT_KEY,
    },
    instead: { ...Object.fromEntries(free), [ARCHIVE]: "$PWD/archive" },
    wrap: postgres.wrap,
    before,
  });
}

test(
  "the commands of the guide to backup, restore and point-in-time recovery work at a site with a synchronous standby",
  (context) => atDatabase(context, "backup", PRIMARY + SYNCHRONOUS),
  300_000,
);

test(
  "the commands of the guide to failover work, and the standby has every acknowledged change",
  (context) => atDatabase(context, "failover"),
  300_000,
);
