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
import { berth, ROOT, runBlocks, runGuides, SESSION, type Session } from "./run.ts";

/** The guide's folder for the archived log. The tests replace it with a folder of their own. */
const ARCHIVE = "/var/backups/berth";
/** The text of the backup guide, and its settings of the server whose log is archived. */
const guide = await readFile(join(ROOT, "docs/guides/backup.md"), "utf8");
const [archiving = expect.fail("the backup guide has no settings")] = settingsIn(guide, "ini");

/**
 * Creates a PostgreSQL server that archives its log. Runs the commands `configured`, and starts the server and a
 * control plane. The server does not flush data to the disk, because no data is needed after the test.
 */
const primary = (configured = "") => `
initdb -D primary -U berth --auth=trust --encoding=UTF8 --no-sync > /dev/null
mkdir archive
cat >> primary/postgresql.conf <<END
max_connections = 120
port = 5432
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
${archiving.replaceAll("$", "\\$").replaceAll(ARCHIVE, "$PWD/archive")}
END
options=
${configured}
pg_ctl -D primary -w -l primary.log -o "$options" start
psql -X postgres://berth@127.0.0.1:5432/postgres -c "create database berth"
export DATABASE_URL=postgres://berth@127.0.0.1:5432/berth
PORT=8081 deno run -A "$BERTH/src/serve.ts" > api.log 2>&1 &
api=$!
curl -fsS --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:8081/readyz
export OPSCTL_ENDPOINT=http://127.0.0.1:8081
`;
/** Moves the configuration out of the data folder, as on Debian. A base backup then lacks the configuration. */
const AS_DEBIAN = `
mkdir conf
mv primary/postgresql.conf primary/pg_hba.conf primary/pg_ident.conf conf
options="-c config_file=$PWD/conf/postgresql.conf -c hba_file=$PWD/conf/pg_hba.conf -c ident_file=$PWD/conf/pg_ident.conf"
`;
/**
 * Writes the setting of a site with a synchronous standby to postgresql.auto.conf, which a base backup copies. The
 * primary does not reload this file, so the primary's own commits do not wait.
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

async function sessionOf(context: TestContext, before: string): Promise<Session> {
  needs(context, ...SESSION, "curl", "PostgreSQL's tools");
  const postgres = await installedPostgres(context);
  const free = await Promise.all(PORTS.map(async (port) => [port, String(await guidePort())] as const));
  return {
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
  };
}

test(
  "the commands of the guide to backup, restore and point-in-time recovery work at a site with a synchronous standby",
  async (context) => runGuides(["backup"], await sessionOf(context, primary(AS_DEBIAN) + SYNCHRONOUS)),
  300_000,
);

test(
  "the commands of the guide to failover work, and the standby has every acknowledged change",
  async (context) => runGuides(["failover"], await sessionOf(context, primary())),
  300_000,
);

/**
 * Starts a server of the installed PostgreSQL with two databases, and a control plane for each database. The logins
 * have the rights of the embedded PostgreSQL's logins (tests/db/embedded-logins.test.ts). The embedded PostgreSQL
 * itself cannot be used, because it is newer than many installed pg_dump programs.
 */
const AS_EMBEDDED = `
initdb -D primary -U berth --auth=trust --encoding=UTF8 --no-sync > /dev/null
cat >> primary/postgresql.conf <<END
port = 5432
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
END
pg_ctl -D primary -w -l primary.log start
psql -X postgres://berth@127.0.0.1:5432/postgres <<END
create role berth_app nologin noinherit;
create role berth_reader nologin noinherit;
create role berth_owner login;
create role berth_server login in role berth_app;
create database berth owner berth_owner;
create database restored owner berth_owner;
END
mkdir .berth restored
for each in .berth:berth:8081 restored:restored:8082; do
  IFS=: read -r data name port <<< "$each"
  printf %s "postgres://berth_owner@127.0.0.1:5432/$name" > "$data/owner-url"
  DATABASE_URL="postgres://berth_server@127.0.0.1:5432/$name" BERTH_OWNER_DATABASE_URL="$(cat "$data/owner-url")" \\
    PORT=$port deno run -A "$BERTH/src/serve.ts" > "$name.log" 2>&1 &
  curl -fsS --retry 60 --retry-delay 1 --retry-connrefused "http://127.0.0.1:$port/readyz"
done
echo "5e" > .berth/secret-key
chmod 600 .berth/secret-key
opsctl --endpoint http://127.0.0.1:8081 silo create kept
`;
/** Starts the second control plane again on the restored database. */
const RESTORED = `
kill %2
wait %2 || true
DATABASE_URL=postgres://berth_server@127.0.0.1:5432/restored PORT=8082 deno run -A "$BERTH/src/serve.ts" > again.log 2>&1 &
curl -fsS --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:8082/readyz
opsctl --endpoint http://127.0.0.1:8082 audit verify
opsctl --endpoint http://127.0.0.1:8082 silo list | grep kept
`;

test(
  "the commands of the guide to backup work with the login of the embedded PostgreSQL, which is not a superuser",
  async (context) => {
    const section = guide.split("## The embedded PostgreSQL\n")[1] ?? expect.fail("the guide has no such section");
    const commands = section.split("\n").filter((line) => line.startsWith("    ") && !line.includes("deno task start"));
    expect(commands).toHaveLength(5);
    const run = { line: 0, script: commands.join("\n"), shown: null, place: "the commands of the guide" };
    const check = { line: 0, script: RESTORED, shown: null, place: "the check of the restored database" };
    await runBlocks([run, check], await sessionOf(context, AS_EMBEDDED));
  },
  300_000,
);
