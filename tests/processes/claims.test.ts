// Two machines claim to be the same node: one runs the compiled agent, the other is a stranger. The server has the
// permissions of `task start`. The operator uses the compiled opsctl to compare the claims and to approve the right
// machine. Only this machine gets the key.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RegistrationView } from "../../src/contract/agent.ts";
import type { CnView } from "../../src/contract/cn.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { must, request } from "./client.ts";
import { buildExecutables, type Ended, run, type Running, start } from "./executables.ts";

let database: FreshDatabase;
let server: ServerProcess;
let folder: TemporaryFolder;
const started: Running[] = [];

beforeAll(async () => {
  await buildExecutables();
  database = await freshDatabase();
  folder = await temporaryFolder("claims");
  const env = { DATABASE_URL: database.url };
  server = await startServer({
    env,
    as_task: true,
  });
}, 120_000);

afterAll(async () => {
  for (const { signal, ended } of started) {
    signal("SIGKILL");
    await ended;
  }
  await server?.kill();
  await database?.drop();
  await folder?.remove();
});

const server_uuid = crypto.randomUUID();

/** Starts the agent of the real machine, with its state in the directory `state`. */
function agent(state: string): Running {
  const place = ["--endpoint", server.url, "--state-dir", join(folder.path, state), "--server-uuid", server_uuid];
  const running = start("nodeagent", ["run", ...place, "--hostname", "rack1-n1", "--heartbeat-ms", "100"]);
  started.push(running);
  return running;
}

function opsctl(...argv: string[]): Promise<Ended> {
  const env = { HOME: folder.path, OPSCTL_ENDPOINT: server.url, OPSCTL_API_KEY: ROOT_KEY };
  return run("opsctl", argv, { env });
}

async function codeOf(running: Running): Promise<string> {
  return (await running.says(/Claim code: ([0-9A-Z]{3}-[0-9A-Z]{3})\b/))[1]!;
}

const keyIn = async (state: string) =>
  JSON.parse(await readFile(join(folder.path, state, "credentials.json"), "utf8")).api_key;

async function strangerRegisters(): Promise<RegistrationView> {
  const sysinfo = { "Serial Number": "STRANGER" };
  const body = { server_uuid, hostname: "rack1-n1", admin_ip: "198.51.100.66", sysinfo };
  return await must<RegistrationView>(server.url, { method: "POST", path: "/v1/agent/register", body, key: "" });
}

test(
  "if a stranger claims to be the same node, the operator sees how the claims differ, and only the approved machine gets the key",
  async () => {
    const machine = agent("first");
    const code = await codeOf(machine);
    const stranger = await strangerRegisters();
    const listed = await opsctl("cn", "list");
    expect(listed.out).toMatch(/rack1-n1 .* pending .* 2 \(differs\)/);
    const shown = await opsctl("cn", "show", "rack1-n1");
    for (const text of [code, stranger.claim_code!, "198.51.100.66", "STRANGER"]) expect(shown.out).toContain(text);

    const unasked = await opsctl("cn", "approve", code);
    expect([unasked.code, unasked.out]).toEqual([2, ""]);
    const approved = await opsctl("cn", "approve", "--yes", code);
    expect(approved.err).toContain("1 other claim of this node will be dropped.");
    expect(approved.out).toContain(`Approved CN ${server_uuid}`);
    await machine.says(/approved as node/);
    const path = `/v1/agent/register/status?poll_token=${stranger.poll_token}`;
    expect((await request(server.url, { method: "GET", path, key: "" })).status).toBe(404);

    const node = await must<CnView>(server.url, { method: "GET", path: `/v1/system/cns/${server_uuid}` });
    expect(node).toMatchObject({ state: "approved", claims: [] });
    expect(JSON.stringify(node.sysinfo)).not.toContain("STRANGER");
  },
  60_000,
);

test(
  "after a reinstallation, the approval of the new claim replaces the approved node's key, and the old agent is rejected",
  async () => {
    const old_key = await keyIn("first");
    const reinstalled = agent("second");
    const code = await codeOf(reinstalled);
    const doctor = await opsctl("cn", "doctor", "rack1-n1");
    expect(doctor.out).toContain("a machine registered with this node's server_uuid");
    const approved = await opsctl("cn", "approve", "--yes", code);
    expect(approved.err).toContain("replaces its key");
    await reinstalled.says(/approved as node/);
    const beat = (key: string) => request(server.url, { method: "POST", path: "/v1/agent/heartbeat", key });
    expect((await beat(old_key)).status).toBe(401);
    expect((await beat(await keyIn("second"))).status).toBe(200);
  },
  60_000,
);

test("an agent that restarts while it waits for approval gets a new code for the same claim", async () => {
  const other = crypto.randomUUID();
  const argv = ["--endpoint", server.url, "--state-dir", join(folder.path, "third"), "--server-uuid", other];
  const codes = [];
  for (let n = 0; n < 6; n++) {
    const running = start("nodeagent", ["run", ...argv, "--hostname", "rack1-n2"]);
    started.push(running);
    codes.push(await codeOf(running));
    running.signal("SIGTERM");
    await running.ended;
  }
  expect(new Set(codes).size).toBe(6);
  const node = await must<CnView>(server.url, { method: "GET", path: `/v1/system/cns/${other}` });
  expect(node.claims.map(({ claim_code }) => claim_code)).toEqual([codes.at(-1)]);
}, 60_000);
