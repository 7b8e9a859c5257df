// The compiled nodeagent does jobs for a running server; the agent or the server is killed (kill -9) in the middle of a
// job.
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Job } from "../../src/contract/job.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "../compute/instance-fixture.ts";
import { type ImageServer, serveImage } from "../compute/image-server.ts";
import { type Answer, type CallOptions, okOf } from "../support/control-plane.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { buildExecutables, run, type Running, start } from "./executables.ts";

/** A generous limit for slow machines. */
const PATIENCE = { timeout: 60_000 };
const SLOW = { slow_ms: 300_000 };

let database: FreshDatabase;
let db: Db;
let server: ServerProcess;
let folder: TemporaryFolder;
let images: ImageServer;
let state_dir: string;
let g: InstanceFixture;
const started: Running[] = [];

beforeAll(async () => {
  await buildExecutables();
  database = await freshDatabase();
  db = openPool({ url: database.url, connectionsMax: 1, applicationName: "test" });
  folder = await temporaryFolder("working-agents");
  state_dir = join(folder.path, "node");
  server = await startServer({ env: { DATABASE_URL: database.url } });
  images = await serveImage(randomBytes(200_000));
  g = await openInstanceFixture({ call }, { ...images, size_bytes: images.bytes.length });
  const [, code = ""] = await agent().says(/Claim code: ([0-9A-Z]{3}-[0-9A-Z]{3})\b/);
  okOf(await call("POST", "/v1/cn-approvals", { body: { code } }));
  await started[0]!.says(/reports to/);
  await end();
}, 180_000);

afterEach(end);
afterAll(async () => {
  // The first agent may still run if beforeAll failed.
  await end();
  await server?.kill();
  await images?.close();
  await db?.close();
  await database?.drop();
  await folder?.remove();
});

async function call(method: string, path: string, { key, body }: CallOptions = {}): Promise<Answer> {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${key ?? ROOT_KEY}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text === "" ? null : JSON.parse(text) };
}

function agent(): Running {
  const place = ["--endpoint", server.url, "--state-dir", state_dir];
  const pace = ["--heartbeat-ms", "200", "--status-check-ms", "100", "--error-retry-ms", "50", "--job-poll-ms", "50"];
  const running = start("nodeagent", ["run", ...place, ...pace]);
  started.push(running);
  return running;
}

/** Starts an agent and waits for its capacity report, so that instances are placed on its node. */
async function working(): Promise<Running> {
  const reported = async () => (await db.query("select reported_at from cn_capacity")).rows[0]?.reported_at?.getTime();
  const before = await reported();
  const running = agent();
  const isNew = async () => ![undefined, before].includes(await reported());
  await expect.poll(isNew, PATIENCE).toBe(true);
  return running;
}

/** Kills every agent with SIGKILL. */
async function end(): Promise<void> {
  for (const { signal, ended } of started.splice(0)) {
    signal("SIGKILL");
    await ended;
  }
}

const read = async (name: string) => JSON.parse(await readFile(join(state_dir, name), "utf8"));
const vms = async () => Object.keys((await read("simulated-machine.json")).vms);
const trouble = (faults: object) => writeFile(join(state_dir, "trouble.json"), JSON.stringify(faults));
const jobs = async (query: string): Promise<Job[]> => okOf(await call("GET", `/v1/system/jobs?${query}`)).items;

/** Waits until the running job has reported a step, and returns the job. */
async function inHand(): Promise<Job> {
  let found: Job | undefined;
  await expect.poll(async () => {
    [found] = await jobs("status=in_progress");
    return found?.progress?.step;
  }, PATIENCE).toBeDefined();
  return found!;
}

const jobState = async ({ id }: Job) => (okOf(await call("GET", `/v1/system/jobs/${id}`)) as Job).status.status;
const opsctl = (argv: string) =>
  run("opsctl", argv.split(" "), {
    env: { OPSCTL_ENDPOINT: server.url, OPSCTL_API_KEY: ROOT_KEY, HOME: folder.path },
  });

test(
  "an agent that is killed in the middle of a job continues the job after its restart; opsctl shows the job meanwhile",
  async () => {
    await trouble(SLOW);
    await working();
    const made = makeInstance(g);
    const job = await inHand();
    const shown = await opsctl(`job show ${job.id}`);
    expect([shown.code, shown.out]).toEqual([0, expect.stringMatching(/^status: +in_progress$/m)]);
    expect(shown.out).toMatch(/^progress: +image at /m);
    await end();
    await trouble({});
    agent();
    const { id, lifecycle } = okOf(await made);
    expect(lifecycle.state).toBe("running");
    expect(await vms()).toContain(id);
    expect(await jobState(job)).toBe("completed");
    const listed = await opsctl(`job list --instance ${id}`);
    expect(listed.out.trimEnd().split("\n").map((line) => line.split(/ {2,}/)[3])).toEqual(["STATUS", "completed"]);
  },
  120_000,
);

test("if an agent is killed and its job is cancelled, the restarted agent undoes the job", async () => {
  await trouble(SLOW);
  await working();
  const made = makeInstance(g);
  const job = await inHand();
  const before = await vms();
  await end();
  okOf(await call("POST", `/v1/operations/${job.operation_id}/abandon`));
  await expect.poll(() => jobState(job), PATIENCE).toBe("cancelled");
  const listed = await opsctl("job list --status cancelled");
  expect(listed.out).toContain("cancelled (to be undone)");
  await trouble({});
  const back = agent();
  await back.says(/taken from this node and undone/);
  expect((await made).status).toBe(502);
  const left = async () => (await call("GET", `/v1/instances/${job.kind["instance_id"]}`)).status;
  await expect.poll(left, PATIENCE).toBe(404);
  expect(await vms()).toEqual(before);
}, 120_000);

test("if the server is killed during a job, an agent reports the end of the job to the restarted server", async () => {
  await trouble(SLOW);
  const running = await working();
  const made = makeInstance(g).catch(() => null);
  const job = await inHand();
  await server.kill();
  await made;
  await running.says(/retrying/);
  running.signal("SIGTERM");
  expect((await running.ended).code).toBe(0);
  server = await startServer({ env: { DATABASE_URL: database.url, PORT: String(server.port) } });
  await trouble({});
  agent();
  await expect.poll(() => jobState(job), PATIENCE).toBe("completed");
  const state = async () =>
    (await call("GET", `/v1/instances/${job.kind["instance_id"]}`)).body.lifecycle.state as string;
  await expect.poll(state, PATIENCE).toBe("running");
}, 120_000);
