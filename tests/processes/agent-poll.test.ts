// Tests the poll of the compiled nodeagent with a running server, with a server that has no polls, and with a server
// that is killed while the poll waits. A proxy between agent and server counts the calls, and can act as an older
// server.
import { createServer, request as forward, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CnView } from "../../src/contract/cn.ts";
import type { Job } from "../../src/contract/job.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { enqueue } from "../compute/jobs.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { must } from "./client.ts";
import { buildExecutables, type Running, start } from "./executables.ts";

/** A generous limit for slow machines. */
const PATIENCE = { timeout: 90_000 };
const POLL = "/v1/agent/poll";
const SINGLE = ["/v1/agent/heartbeat", "/v1/agent/claim", "/v1/agent/network/poll"];

let database: FreshDatabase;
let db: Db;
let server: ServerProcess;
let folder: TemporaryFolder;
let proxy: Server;
let agent: Running;
let counts: Record<string, number> = {};
let is_older = false;
const server_uuid = crypto.randomUUID();

beforeAll(async () => {
  await buildExecutables();
  database = await freshDatabase();
  db = openPool({ url: database.url, connectionsMax: 1, applicationName: "test" });
  folder = await temporaryFolder("polling-agent");
  server = await startServer({ env: { DATABASE_URL: database.url }, as_task: true });
  proxy = await openProxy();
  agent = startAgent();
  const [, code = ""] = await agent.says(/Claim code: ([0-9A-Z]{3}-[0-9A-Z]{3})\b/);
  await must<CnView>(server.url, { method: "POST", path: "/v1/cn-approvals", body: { code } });
  await agent.says(/reports to/);
}, 300_000);

afterAll(async () => {
  agent?.signal("SIGKILL");
  await agent?.ended;
  proxy?.close();
  await server?.kill();
  await db?.close();
  await database?.drop();
  await folder?.remove();
});

/** Passes requests to the server that runs at the moment, and counts them by path. */
async function openProxy(): Promise<Server> {
  const made = createServer((req, res) => {
    const path = req.url!.split("?")[0]!;
    counts[path] = (counts[path] ?? 0) + 1;
    if (is_older && path === POLL) return void res.writeHead(404, { "content-type": "application/json" }).end("{}");
    const up = forward(
      { port: server.port, host: "127.0.0.1", method: req.method, path: req.url, headers: req.headers },
      (answer) => void answer.pipe(res.writeHead(answer.statusCode!, answer.headers)),
    );
    up.on("error", () => res.destroy());
    res.on("close", () => up.destroy());
    req.pipe(up);
  });
  await new Promise<void>((listening) => made.listen(0, "127.0.0.1", listening));
  return made;
}

function startAgent(): Running {
  const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const place = ["--endpoint", endpoint, "--state-dir", join(folder.path, "node"), "--server-uuid", server_uuid];
  return start("nodeagent", ["run", ...place, "--pending-retry-ms", "50", "--error-retry-ms", "500"]);
}

const lastSeen = async () =>
  Date.parse(
    (await must<CnView>(server.url, { method: "GET", path: `/v1/system/cns/${server_uuid}` })).last_seen ?? "",
  );
const showJob = (id: string) => must<Job>(server.url, { method: "GET", path: `/v1/system/jobs/${id}` });
const polled = (times: number) => expect.poll(() => counts[POLL] ?? 0, PATIENCE).toBeGreaterThanOrEqual(times);

/** Queues a job, and returns it when the agent has completed it. */
async function done(): Promise<Job> {
  // The cast is safe, because enqueue reads only the database of a test's control plane.
  const id = await enqueue({ db } as unknown as Parameters<typeof enqueue>[0], { server_uuid });
  await expect.poll(async () => (await showJob(id)).status.status, PATIENCE).toBe("completed");
  return await showJob(id);
}

test("polls replace heartbeats, claims and network polls, and a waiting poll takes a job", async () => {
  await polled(2);
  counts = {};
  const before = await lastSeen();
  await polled(2);
  expect(await lastSeen()).toBeGreaterThan(before);
  const job = await done();
  expect(job.claimed_by).toBe(server_uuid);
  // A heartbeat may be sent between two polls.
  expect(SINGLE.slice(1).map((path) => counts[path] ?? 0)).toEqual([0, 0]);
}, 120_000);

test(
  "if the server is killed while the poll waits, the agent polls the next server, and each job is done once",
  async () => {
    counts = {};
    await polled(1);
    await server.kill();
    server = await startServer({ env: { DATABASE_URL: database.url }, as_task: true });
    const before = await lastSeen();
    await expect.poll(lastSeen, PATIENCE).toBeGreaterThan(before);
    const { id } = await done();
    const claims = "select 1 from transition where actor_kind = 'job' and actor_id = $1 and to_state = 'in_progress'";
    expect((await db.query(claims, [id])).rows).toHaveLength(1);
  },
  180_000,
);

test("with a server that has no polls, the agent sends heartbeats and claims separately", async () => {
  is_older = true;
  counts = {};
  // The agent changes to separate calls after the current poll, which still gets an answer.
  await expect.poll(() => SINGLE.every((path) => (counts[path] ?? 0) > 0), PATIENCE).toBe(true);
  await agent.says(/the control plane is older and does not support polls/);
  const before = await lastSeen();
  await expect.poll(lastSeen, PATIENCE).toBeGreaterThan(before);
  expect((await done()).claimed_by).toBe(server_uuid);
}, 180_000);
