// A node in a separate network namespace joins by claim code. The compiled agent reports the address from which it
// reaches the control plane. `opsctl cn exec` logs in at that address through a real sshd.
import { execFile } from "node:child_process";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CnView } from "../../src/contract/cn.ts";
import { openWire, type Wire } from "../booter/wire.ts";
import { startSshd, whyNoSshd } from "../cli/sshd.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { lacking } from "../support/optional-programs.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { must } from "./client.ts";
import { buildExecutables, run, type Running, start } from "./executables.ts";

const command = promisify(execFile);
const SPACE = `berth-ip-${process.pid}`;
const INSIDE = ["ip", "netns", "exec", SPACE];
const PATIENCE = { timeout: 30_000 };

const why_not = await whyNoNetwork();
let home: TemporaryFolder;
let database: FreshDatabase;
let server: ServerProcess;
let wire: Wire;
let agents: Running[] = [];

async function whyNoNetwork(): Promise<string | null> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "network namespaces need root on Linux";
  const absent = lacking("ip");
  if (absent !== null) return absent;
  const name = `berth-try-${process.pid}`;
  try {
    await command("ip", ["netns", "add", name]);
    await command("ip", ["netns", "del", name]);
    return whyNoSshd();
  } catch {
    return "this machine cannot create network namespaces";
  }
}

beforeAll(async () => {
  if (why_not !== null) return;
  await buildExecutables();
  home = await temporaryFolder("admin-ip");
  database = await freshDatabase();
  await command("ip", ["netns", "add", SPACE]);
  await command("ip", ["-n", SPACE, "link", "set", "lo", "up"]);
  wire = await openWire(SPACE, `ai${process.pid}`);
  server = await startServer({ env: { DATABASE_URL: database.url, HOST: wire.here } });
}, 300_000);
afterAll(async () => {
  for (const agent of agents) agent.signal("SIGTERM");
  await Promise.all(agents.map(({ ended }) => ended));
  await server?.kill();
  await wire?.close();
  if (why_not === null) await command("ip", ["netns", "del", SPACE]);
  await database?.drop();
  await home?.remove();
});

type AgentParts = {
  readonly name: string;
  readonly argv?: readonly string[];
  readonly env?: Record<string, string>;
};

function agentOf({ name, argv = [], env = {} }: AgentParts): Running {
  const place = ["--endpoint", server.url, "--state-dir", `${home.path}/${name}`, "--hostname", name];
  const pace = ["--config-ms", "200", "--pending-retry-ms", "100", "--error-retry-ms", "100"];
  const agent = start("nodeagent", ["run", ...place, ...pace, ...argv], { env, prefix: INSIDE });
  agents.push(agent);
  return agent;
}

async function stopped(agent: Running): Promise<void> {
  agent.signal("SIGTERM");
  await agent.ended;
  agents = agents.filter((each) => each !== agent);
}

async function opsctl(...argv: readonly string[]): Promise<string> {
  const env = { HOME: home.path, PATH: process.env.PATH ?? "", OPSCTL_ENDPOINT: server.url, OPSCTL_API_KEY: ROOT_KEY };
  const { code, out, err } = await run("opsctl", argv, { env });
  if (code !== 0) throw new Error(`opsctl ${argv.join(" ")}: ${code} ${err}`);
  return out;
}

async function nodeNamed(name: string): Promise<CnView> {
  const { items } = await must<{ items: CnView[] }>(server.url, { method: "GET", path: "/v1/system/cns" });
  const found = items.find(({ hostname }) => hostname === name);
  if (found === undefined) throw new Error(`there is no node named ${name}`);
  return found;
}
const addressOf = (name: string) => nodeNamed(name).then(({ admin_ip }) => admin_ip);

async function approved(parts: AgentParts): Promise<Running> {
  const agent = agentOf(parts);
  const [, code = ""] = await agent.says(/([0-9A-Z]{3}-[0-9A-Z]{3})/);
  await opsctl("cn", "approve", code, "--yes").catch(() => opsctl("cn", "approve", code));
  await agent.says(/reports to/);
  return agent;
}

describe.skipIf(why_not !== null)("the admin_ip of a node that joined by claim code", () => {
  test("is the address from which it reaches the control plane, and cn exec logs in there", async () => {
    await approved({ name: "claimed" });
    expect(await addressOf("claimed")).toBe(wire.there);
    const sshd = await startSshd({ addresses: [wire.there], prefix: INSIDE });
    try {
      const out = await opsctl("cn", "exec", "--nodes", "claimed", ...sshd.argv, "--", 'echo "$SSH_CONNECTION"');
      expect(out).toContain(` ${wire.there} `);
    } finally {
      await sshd.stop();
    }
  });

  test("can be set by --admin-ip or ADMIN_IP; any value except an IPv4 address is a usage error", async () => {
    await approved({ name: "set-by-flag", argv: ["--admin-ip", "192.0.2.7"] });
    expect(await addressOf("set-by-flag")).toBe("192.0.2.7");
    await approved({ name: "set-by-variable", env: { ADMIN_IP: "192.0.2.8" } });
    expect(await addressOf("set-by-variable")).toBe("192.0.2.8");
    for (const text of ["192.0.2", "node7", "::1", "192.0.2.7/24"]) {
      const refused = agentOf({ name: "refused", argv: ["--admin-ip", text] });
      const { code, err } = await refused.ended;
      expect([code, err]).toEqual([2, expect.stringContaining("--admin-ip must be an IPv4 address")]);
    }
    const refused = await agentOf({ name: "refused", env: { ADMIN_IP: "x" } }).ended;
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("ADMIN_IP must be an IPv4 address")]);
  });

  test("changes when the agent reports another address with the node's key; it does not change for a disabled node", async () => {
    const agent = await approved({ name: "moved", argv: ["--admin-ip", "192.0.2.20"] });
    const before = await nodeNamed("moved");
    await stopped(agent);
    const again = agentOf({ name: "moved", argv: ["--admin-ip", "192.0.2.21"] });
    await expect.poll(() => addressOf("moved"), PATIENCE).toBe("192.0.2.21");
    expect(await nodeNamed("moved")).toMatchObject({
      state: "approved",
      server_uuid: before.server_uuid,
      bound_api_key_id: before.bound_api_key_id,
    });
    await stopped(again);
    await opsctl("cn", "disable", before.server_uuid);
    const disabled = agentOf({ name: "moved", argv: ["--admin-ip", "192.0.2.22"] });
    await disabled.says(/reports to/);
    await new Promise((wake) => setTimeout(wake, 1_000));
    expect(await nodeNamed("moved")).toMatchObject({ state: "disabled", admin_ip: "192.0.2.21" });
  });
});
