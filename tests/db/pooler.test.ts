// A control plane works behind PgBouncer in transaction mode. In this mode, each transaction can get another session of
// PostgreSQL. For work that needs one session, the control plane uses BERTH_DIRECT_DATABASE_URL.
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, type TestContext } from "vitest";
import { openClient, openPool } from "../../src/db/pool.ts";
import { choosePostgresUser } from "../../src/db/postgres-user.ts";
import { guidePort } from "../guides/ports.ts";
import { auditViolations, historyViolations, invariantViolations } from "../processes/history.ts";
import { startLoad } from "../processes/load.ts";
import { sleep, until, untilEmpty } from "../stress/waiting.ts";
import { type OwnCluster, ownCluster } from "../support/cluster.ts";
import { needs, present } from "../support/optional-programs.ts";
import { startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

/**
 * The number of sessions that PgBouncer opens. A server process has more connections than this, so the transactions of
 * one connection run in several sessions.
 */
const SESSIONS = 3;
const LOAD_MS = 4_000;
const PATIENCE_MS = 30_000;

let cluster: OwnCluster;
let folder: TemporaryFolder;
let closing: (() => Promise<unknown> | unknown)[];
beforeEach(async () => {
  closing = [];
  cluster = await ownCluster();
  folder = await temporaryFolder("pooler");
});
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  await cluster.remove();
  await folder.remove();
});

/** Starts PgBouncer. Returns the URL of the database through PgBouncer. */
async function startPooler({ skip }: Pick<TestContext, "skip">): Promise<string> {
  const user = await choosePostgresUser();
  skip(!user.seesOurFiles, "PgBouncer does not run as root, and user namespaces are forbidden");
  const url = new URL(cluster.url);
  const port = await guidePort();
  const file = join(folder.path, "pgbouncer.ini");
  const password = decodeURIComponent(url.password);
  const server = `host=${url.hostname} port=${url.port} user=${decodeURIComponent(url.username)} password=${password}`;
  const settings = [
    [
      "[databases]",
      `* = ${server}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "auth_type = any",
    ],
    ["pool_mode = transaction", `default_pool_size = ${SESSIONS}`, "unix_socket_dir ="],
  ];
  await writeFile(file, `${settings.flat().join("\n")}\n`, { mode: 0o600 });
  const [program, ...argv] = user.wrap([present("pgbouncer"), file]);
  const child = spawn(program, argv, { stdio: "ignore" });
  closing.push(() => child.kill("SIGKILL"));
  url.port = String(port);
  const answers = () =>
    openClient({ url: url.href, sharesSessions: true }).then((client) => client.end().then(() => true), () => false);
  expect(await until(answers, { limit_ms: PATIENCE_MS })).toBe(true);
  return url.href;
}

test(
  "a control plane behind PgBouncer in transaction mode fails no request and violates no invariant",
  async (context) => {
    needs(context, "pgbouncer");
    const url = await startPooler(context);
    const admin = await openClient({ url: cluster.url });
    closing.push(() => admin.end());
    // Without sharesSessions, the client sends its time limits as startup parameters, which PgBouncer refuses.
    await expect(openClient({ url })).rejects.toThrow(/unsupported startup parameter/);

    const env = { DATABASE_URL: url, BERTH_DIRECT_DATABASE_URL: cluster.url };
    const server = await startServer({ env, as_task: true });
    closing.push(() => server.kill());
    const load = startLoad({ urls: () => [server.url], tenancy: true });
    await sleep(LOAD_MS);
    await load.stop();
    expect(load.acknowledged()).toBeGreaterThan(0);
    const failed = load.operations.flatMap(({ path, attempts }) =>
      attempts.filter(({ status }) => status === null || status >= 500).map(({ status }) => `${path}: ${status}`)
    );
    expect(failed, server.log()).toEqual([]);

    const sessions = await admin.query(
      "select count(*)::int as n from pg_stat_activity " +
        "where application_name like 'berth%' and pid <> pg_backend_pid()",
    );
    expect(sessions.rows[0].n).toBeLessThanOrEqual(SESSIONS + 1);
    expect(server.log()).not.toContain("the LISTEN connection failed");
    const db = openPool({ url: cluster.url, applicationName: "checks" });
    closing.push(db.close);
    expect(await historyViolations(db, load.operations)).toEqual([]);
    expect(await invariantViolations(db)).toEqual([]);
    expect(await untilEmpty(() => auditViolations(db), { limit_ms: PATIENCE_MS })).toEqual([]);
  },
  180_000,
);
