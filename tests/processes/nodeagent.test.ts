// Tests the compiled nodeagent with a running server, from the registration of an unknown machine to its reports, with
// kills in between.
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { VERSION } from "../../cli/version.ts";
import type { CnView } from "../../src/contract/cn.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { must, request } from "./client.ts";
import { buildExecutables, type Running, start } from "./executables.ts";

/** A generous limit for slow machines. The agent reports ten times a second. */
const PATIENCE_MS = 20_000;

let database: FreshDatabase;
let server: ServerProcess;
let folder: TemporaryFolder;
const started: Running[] = [];

beforeAll(async () => {
  await buildExecutables();
  database = await freshDatabase();
  folder = await temporaryFolder("agents");
  server = await startServer({ env: { DATABASE_URL: database.url } });
}, 120_000);

afterEach(async () => {
  for (const { signal, ended } of started.splice(0)) {
    signal("SIGKILL");
    await ended;
  }
});

afterAll(async () => {
  await server?.kill();
  await database?.drop();
  await folder?.remove();
});

type Node = { readonly server_uuid: string; readonly state_dir: string };

function newNode(): Node {
  const server_uuid = crypto.randomUUID();
  return { server_uuid, state_dir: join(folder.path, server_uuid) };
}

function agent({ server_uuid, state_dir }: Node): Running {
  const place = ["--endpoint", server.url, "--state-dir", state_dir, "--server-uuid", server_uuid];
  const pace = ["--heartbeat-ms", "100", "--pending-retry-ms", "50", "--error-retry-ms", "50"];
  const running = start("nodeagent", ["run", ...place, ...pace]);
  started.push(running);
  return running;
}

async function claimCode(running: Running): Promise<string> {
  return (await running.says(/Claim code: ([0-9A-Z]{3}-[0-9A-Z]{3})\b/))[1]!;
}

function approve(code: string): Promise<CnView> {
  return must<CnView>(server.url, { method: "POST", path: "/v1/cn-approvals", body: { code } });
}

function show({ server_uuid }: Node): Promise<CnView> {
  return must<CnView>(server.url, { method: "GET", path: `/v1/system/cns/${server_uuid}` });
}

async function lastSeen(node: Node): Promise<number> {
  return Date.parse((await show(node)).last_seen ?? "1970-01-01T00:00:00Z");
}

async function savedKey({ state_dir }: Node): Promise<string> {
  return JSON.parse(await readFile(join(state_dir, "credentials.json"), "utf8")).api_key;
}

async function registrations({ server_uuid }: Node): Promise<number> {
  const events = await must<{ events: { action: string; resource: string }[] }>(server.url, {
    method: "GET",
    path: "/v1/audit/events?limit=1000",
  });
  return events.events.filter(({ action, resource }) => action === "agent_register" && resource.includes(server_uuid))
    .length;
}

test("a new machine prints its claim code, writes it to a file, and reports after it is approved", async () => {
  const node = newNode();
  const running = agent(node);
  const code = await claimCode(running);
  // The agent prints the code before it writes the file, so the file may not exist yet.
  const mirror = () => readFile(join(node.state_dir, "claim-code"), "utf8").catch(() => null);
  await expect.poll(mirror, { timeout: PATIENCE_MS }).toBe(`${code}\n`);
  expect(await show(node)).toMatchObject({ state: "pending", claim_code: code });
  const approved = await approve(code);
  await running.says(/reports to/);
  expect((await stat(join(node.state_dir, "credentials.json"))).mode & 0o777).toBe(0o600);
  await expect(stat(join(node.state_dir, "claim-code"))).rejects.toThrow("ENOENT");
  const before = await lastSeen(node);
  await expect.poll(() => lastSeen(node), { timeout: PATIENCE_MS }).toBeGreaterThan(before);
  await expect.poll(async () => (await show(node)).last_status, { timeout: PATIENCE_MS }).not.toBeNull();
  await expect.poll(async () => (await show(node)).agent_version, { timeout: PATIENCE_MS }).toBe(VERSION);
  expect(await show(node)).toMatchObject({ state: "approved", bound_api_key_id: approved.bound_api_key_id });
});

test("on SIGTERM the agent exits with 0; its next start uses the saved key and prints no claim code", async () => {
  const node = newNode();
  const first = agent(node);
  await approve(await claimCode(first));
  await first.says(/reports to/);
  first.signal("SIGTERM");
  expect((await first.ended).code).toBe(0);
  const key = await savedKey(node);
  const count = await registrations(node);
  const before = await lastSeen(node);
  const second = agent(node);
  await second.says(/reports to/);
  await expect.poll(() => lastSeen(node), { timeout: PATIENCE_MS }).toBeGreaterThan(before);
  expect(second.said()).not.toContain("Claim code");
  await expect.poll(() => registrations(node), { timeout: PATIENCE_MS }).toBe(count + 1);
  expect((await show(node)).claims).toEqual([]);
  expect(await savedKey(node)).toBe(key);
});

test("on SIGTERM while it waits for approval, the agent exits with 0", async () => {
  const running = agent(newNode());
  await claimCode(running);
  running.signal("SIGTERM");
  expect((await running.ended).code).toBe(0);
});

test("if an agent is killed after its approval but before it gets its key, the restarted agent gets the key of this approval", async () => {
  const node = newNode();
  const first = agent(node);
  const code = await claimCode(first);
  // An agent that is stopped (SIGSTOP) cannot receive the server's reply.
  first.signal("SIGSTOP");
  const { bound_api_key_id } = await approve(code);
  await new Promise((wake) => setTimeout(wake, 500));
  first.signal("SIGKILL");
  await first.ended;
  await expect(stat(join(node.state_dir, "credentials.json"))).rejects.toThrow("ENOENT");
  const second = agent(node);
  await second.says(/reports to/);
  const key = await savedKey(node);
  const who = await must<{ key_id: string }>(server.url, { method: "GET", path: "/v1/auth/whoami", key });
  expect(who.key_id).toBe(bound_api_key_id);
});

test("a key that the agent has used is not delivered again", async () => {
  const node = newNode();
  const first = agent(node);
  await approve(await claimCode(first));
  await first.says(/reports to/);
  await expect.poll(async () => (await show(node)).last_status, { timeout: PATIENCE_MS }).not.toBeNull();
  first.signal("SIGKILL");
  await first.ended;
  const thief = agent({ ...node, state_dir: `${node.state_dir}-stolen` });
  // The second agent, the thief, gets a claim of its own and no key.
  await claimCode(thief);
  expect((await show(node)).claims).toHaveLength(1);
  await expect(savedKey({ ...node, state_dir: `${node.state_dir}-stolen` })).rejects.toThrow("ENOENT");
});

test("the agent of a removed node logs that its key was rejected, and exits", async () => {
  const node = newNode();
  const running = agent(node);
  await approve(await claimCode(running));
  await running.says(/reports to/);
  await must(server.url, { method: "POST", path: `/v1/cns/${node.server_uuid}/disable` });
  expect((await request(server.url, { method: "DELETE", path: `/v1/cns/${node.server_uuid}` })).status).toBe(204);
  const { code, err } = await running.ended;
  expect(code).toBe(4);
  expect(err).toContain("rejected the saved key");
});

test("the agent reports again after the server restarts", async () => {
  const node = newNode();
  const running = agent(node);
  await approve(await claimCode(running));
  await running.says(/reports to/);
  await server.kill();
  await running.says(/retrying/);
  server = await startServer({ env: { DATABASE_URL: database.url, PORT: String(server.port) } });
  await running.says(/recovered/);
  const before = await lastSeen(node);
  await expect.poll(() => lastSeen(node), { timeout: PATIENCE_MS }).toBeGreaterThan(before);
}, 40_000);
