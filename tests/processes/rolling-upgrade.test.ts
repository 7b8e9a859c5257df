// Three servers behind HAProxy are replaced one after the other by servers of another version, while clients and node
// agents send requests. First this version replaces an older version and migrates the database. Then the older version
// replaces this version. No request may fail, except changes during the migrations from release 0.1.0
// (docs/guides/upgrade.md).
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, expect, test, type TestContext } from "vitest";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type Haproxy, startHaproxy } from "../guides/haproxy.ts";
import { commitOf010, migrationsIn, previousCommit, writeTree } from "../guides/older-tree.ts";
import { guidePort } from "../guides/ports.ts";
import { ROOT } from "../guides/run.ts";
import { sleep, untilEmpty } from "../stress/waiting.ts";
import { emptyDatabase, type FreshDatabase } from "../support/database.ts";
import { needs } from "../support/optional-programs.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { must, request } from "./client.ts";
import { auditViolations, historyViolations, invariantViolations } from "./history.ts";
import { type Load, startLoad } from "./load.ts";

const SERVERS = 3;
const AGENTS = 2;
const CLIENTS = 6;
/** Time with load between two replacements. HAProxy checks each server once a second. */
const STEADY_MS = 2_000;
const READ_PAUSE_MS = 20;
const PATIENCE = { timeout: 60_000, interval: 200 };
const CHAIN_LIMIT_MS = 30_000;
const LIMIT_MS = 400_000;

const LISTS = ["/v1/silos", "/v1/system/cns", "/v1/audit/events", "/v1/operations", "/v1/system/jobs"];

type Upgrade = {
  readonly older: string;
  readonly database: FreshDatabase;
  readonly folder: TemporaryFolder;
  readonly ports: readonly number[];
  readonly servers: ServerProcess[];
  readonly haproxy: Haproxy;
  readonly agents: readonly ChildProcess[];
};

let database: FreshDatabase;
let folder: TemporaryFolder;
let closing: (() => Promise<unknown> | unknown)[];
beforeEach(async () => {
  closing = [];
  database = await emptyDatabase();
  folder = await temporaryFolder("rolling-upgrade");
});
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  await database.drop();
  await folder.remove();
});

async function openSite(commit: string, version: string): Promise<Upgrade> {
  const older = join(folder.path, "older");
  await writeTree(older, commit, version);
  const ports: number[] = [];
  const servers: ServerProcess[] = [];
  for (let index = 0; index < SERVERS; index++) {
    ports.push(await guidePort());
    servers.push(await start(ports[index]!, older));
  }
  closing.push(() => Promise.all(servers.map((server) => server.kill())));
  const haproxy = await startHaproxy({ folder: folder.path, port: await guidePort(), api: ports });
  closing.push(haproxy.close);
  const agents = Array.from({ length: AGENTS }, (_, index) => startAgent(older, haproxy.url, index));
  for (const [index] of agents.entries()) await approve(haproxy.url, index);
  return { older, database, folder, ports, servers, haproxy, agents };
}

function start(port: number, root?: string): Promise<ServerProcess> {
  const env = {
    DATABASE_URL: database.url,
    PORT: String(port),
    BERTH_TRUSTED_PROXIES: "127.0.0.1",
    BERTH_BEHIND_PROXY: "1",
  };
  // This version runs as in `task start`. The older versions need other permissions.
  return startServer(root === undefined ? { env, as_task: true } : { env, root });
}

const nameOf = (index: number) => `older-${index}`;
const stateOf = (index: number) => join(folder.path, nameOf(index));

/** Starts a node agent of the older version, with simulated machines. */
function startAgent(older: string, endpoint: string, index: number): ChildProcess {
  const log = createWriteStream(`${stateOf(index)}.log`);
  const short = ["heartbeat-ms", "status-check-ms", "status-full-ms"].flatMap((name) => [`--${name}`, "500"]);
  const where = ["--endpoint", endpoint, "--state-dir", stateOf(index), "--hostname", nameOf(index)];
  const file = join(older, older_agent.get(older)!);
  const child = spawn(process.execPath, ["run", "-A", file, "run", ...where, ...short], {
    cwd: older,
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout!.pipe(log, { end: false });
  child.stderr!.pipe(log, { end: false });
  closing.push(() => child.kill("SIGKILL"));
  return child;
}

/** The agent's program in the tree of each older version. */
const older_agent = new Map<string, string>();

async function approve(url: string, index: number): Promise<void> {
  const code = async () => (await readFile(join(stateOf(index), "claim-code"), "utf8").catch(() => "")).trim();
  await expect.poll(code, PATIENCE).not.toBe("");
  await must(url, { method: "POST", path: "/v1/cn-approvals", body: { code: await code() } });
}

/** Reads lists until the end of the load. Returns the answers other than 200. */
function startReader(url: string): { stop(): Promise<readonly string[]> } {
  let running = true;
  const failed: string[] = [];
  const loop = (async () => {
    for (let count = 0; running; count++) {
      const path = LISTS[count % LISTS.length]!;
      const { status, body } = await request(url, { method: "GET", path });
      if (status !== 200) failed.push(`GET ${path}: ${status} ${JSON.stringify(body)}`);
      await sleep(READ_PAUSE_MS);
    }
  })();
  return {
    stop: async () => {
      running = false;
      await loop;
      return failed;
    },
  };
}

/** Replaces the servers one after the other by the version in the folder `root`, by default this version. */
async function replaceAll(site: Upgrade, root?: string): Promise<void> {
  for (let index = 0; index < SERVERS; index++) {
    await replace(site, index, root);
    await sleep(STEADY_MS);
  }
}

async function replace({ servers, ports }: Upgrade, index: number, root?: string): Promise<void> {
  expect(await servers[index]!.stop(), servers[index]!.log()).toBe(0);
  ended.push(servers[index]!.log());
  servers[index] = await start(ports[index]!, root);
}

/** The logs of the servers that were replaced. */
const ended: string[] = [];

/** Returns the lines that servers logged about these failed requests. */
function logOf(failed: readonly string[], logs: readonly string[]): string {
  const ids = failed.flatMap((each) => /"request_id":"([^"]+)"/.exec(each)?.[1] ?? []);
  return logs.flatMap((log) => log.split("\n")).filter((line) => ids.some((id) => line.includes(id))).join("\n");
}

/** Checks that the older agents run, and that each sends heartbeats. */
async function agentsLive({ agents }: Upgrade, db: Db): Promise<void> {
  const { rows: [{ now }] } = await db.query("select now()");
  const seen = async () => (await db.query("select from cn_signal where last_seen > $1", [now])).rowCount;
  await expect.poll(seen, PATIENCE).toBe(AGENTS);
  expect(agents.map((agent) => agent.exitCode ?? agent.signalCode)).toEqual(agents.map(() => null));
}

/** Describes the clients' failed attempts. */
function failures({ operations }: Load): string[] {
  return operations.flatMap(({ method, path, attempts }) =>
    attempts.filter(({ status }) => status === null || status >= 500 || status === 429)
      .map(({ status, took_ms }) => `${method} ${path}: ${status} after ${took_ms | 0} ms`)
  );
}

async function upgradeAndBack(context: TestContext, commit: string | null, version: string): Promise<void> {
  needs(context, "haproxy", "git", "tar");
  context.skip(commit === null, "this checkout's Git history does not contain the older version");
  older_agent.set(join(folder.path, "older"), version === "0.1.0" ? "cli/nodeagent/main.ts" : "nodeagent/main.ts");
  const site = await openSite(commit!, version);
  const db = openPool({ url: database.url, applicationName: "checks" });
  closing.push(db.close);
  const applied = async () =>
    (await db.query("select name from schema_migration order by number")).rows.map(({ name }) => name);
  expect(await applied()).toEqual(migrationsIn(site.older));

  const reader = startReader(site.haproxy.url);
  const load = startLoad({ urls: () => [site.haproxy.url], clients: CLIENTS, tenancy: "only" });
  let unread: readonly string[] = [];
  try {
    await sleep(STEADY_MS);
    await replaceAll(site);
    expect(await applied()).toEqual(migrationsIn(ROOT));
    await agentsLive(site, db);
    await replaceAll(site, site.older);
    await agentsLive(site, db);
  } finally {
    await load.stop();
    unread = await reader.stop();
  }
  console.log(
    `${version}: ${load.operations.length} changes, ${failures(load).length} failed; ${unread.length} reads failed`,
  );
  // The migrations before 0063 were not written for rolling upgrades. A change can wait for such a migration and get
  // 503, or 500 from an old process.
  const allowed = version === "0.1.0" ? / 50[03] after / : null;
  expect(failures(load).filter((failure) => allowed?.test(failure) !== true)).toEqual([]);
  expect(unread, logOf(unread, [...ended, ...site.servers.map((server) => server.log())])).toEqual([]);
  expect(load.acknowledged()).toBeGreaterThan(0);
  // Begins the next upgrade: a process of this version completes operations that the older version does not know.
  await replace(site, 0);
  expect(await historyViolations(db, load.operations)).toEqual([]);
  expect(await invariantViolations(db)).toEqual([]);
  const { outcome } = await must<{ outcome: object }>(site.haproxy.url, { method: "GET", path: "/v1/audit/verify" });
  expect(outcome).toHaveProperty("Ok");
  expect(await untilEmpty(() => auditViolations(db), { limit_ms: CHAIN_LIMIT_MS })).toEqual([]);
}

test(
  "no request fails in an upgrade from the version before the newest migration, or in the return to that version",
  (context) => upgradeAndBack(context, previousCommit(), "0.0.1"),
  LIMIT_MS,
);

test(
  "in an upgrade from release 0.1.0, and in the return to that release, no read fails, and a change fails only with 503 or 500",
  (context) => upgradeAndBack(context, commitOf010(), "0.1.0"),
  LIMIT_MS,
);
