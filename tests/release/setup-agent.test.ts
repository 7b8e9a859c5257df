// Setup installs the agent (docs/nodes.md). The machine and its platform are simulated; the other parts are real. `task
// release` builds the channel, and a static server publishes the channel. install.sh installs the booter from the
// channel. The booter verifies the channel with the release's key and mirrors it. The booter's setup script installs
// the agent from the mirror. The agent reports to the control plane that `task start` runs, with the credentials of its
// setup.
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VERSION } from "../../src/version.ts";
import { bareSysinfo } from "../../src/dev/bare-sysinfo.ts";
import { loopbackConfig, setupBlock } from "../../src/dev/booter-config.ts";
import { netbootAgent } from "../../nodeagent/netboot/bus.ts";
import { fetchFrom, netbootMachine } from "../../src/dev/netboot-machine.ts";
import { type BooterProcess, startBooter } from "../booter/booter-process.ts";
import { installTools } from "../booter/platform-tools.ts";
import { archive, NEEDED } from "../booter/scratch-machine.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { lacking, pathOf, present } from "../support/optional-programs.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { POLICY } from "../setup/machine.ts";
import { flipBit, releaseKeyIn, TIME_S } from "./small-release.ts";
import { run } from "./tools.ts";

const LIMIT_MS = 300_000;
const ARCHITECTURE = process.arch === "arm64" ? "arm64" : "amd64";
const STAMP = "20260901T000000Z";
const [MAC, RELAY] = ["02:99:00:00:02:01", "127.79.0.3"];
const ADMIN_NETWORK = {
  ipv4_block: "127.79.0.0/24",
  provision_start_ipv4: "127.79.0.10",
  provision_end_ipv4: "127.79.0.99",
  gateway: "127.79.0.1",
  resolvers: ["127.79.0.1"],
};
const SYSINFO = bareSysinfo({
  server_uuid: "7c1f2a60-4f6e-4a52-9d0b-3a6d0a5b1c05",
  hostname: "bare-9",
  mac: MAC,
  serial_number: "LAB0005",
});

const missing = lacking(...NEEDED, ...pathOf("openssl") === null ? ["gpgv" as const] : []);

let folder: TemporaryFolder;
let database: FreshDatabase;
let server: ServerProcess;
let site: Server;
let site_url: string;
let booter: BooterProcess;
let agent: ChildProcess | undefined;
const at = (...parts: string[]) => join(folder.path, ...parts);

async function call(method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${ROOT_KEY}`, "content-type": "application/json" };
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(answer.ok, `${method} ${path}: ${answer.status}`).toBe(true);
  return await answer.json();
}

beforeAll(async () => {
  if (missing !== null) return;
  [folder, database] = await Promise.all([temporaryFolder("setup-agent"), freshDatabase()]);
  const env = { DATABASE_URL: database.url };
  server = await startServer({ env, as_task: true });

  const argv = ["run", "-A", "cli/release/main.ts", "--key", await releaseKeyIn(folder.path), "--out", at("release")];
  const part = ["--architecture", ARCHITECTURE, "--package", "nodeagent", "--package", "booter"];
  const made = await run(process.execPath, [...argv, ...part], { SOURCE_DATE_EPOCH: String(TIME_S) });
  expect(made.code, made.stderr).toBe(0);
  site = createServer((request, response) => {
    readFile(at("release/channel", (request.url ?? "/").slice(1))).then((bytes) => {
      response.end(bytes);
    }, () => response.writeHead(404).end());
  });
  await new Promise<void>((done) => site.listen(0, "127.0.0.1", done));
  site_url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  await writeFile(at("install.sh"), await (await fetch(`${site_url}/install.sh`)).bytes());
  const installed = await run("sh", [at("install.sh"), "--from", site_url, "--prefix", at("programs"), "booter"]);
  expect(installed.code, installed.stderr).toBe(0);
  booter = await startBooter({ config: await configureBooter(), executable: at("programs/bin/booter") });
}, LIMIT_MS);

afterAll(async () => {
  if (missing !== null) return;
  agent?.kill("SIGTERM");
  await booter?.kill();
  await new Promise((done) => site?.close(done));
  await server?.stop();
  await database?.drop();
  await folder?.remove();
}, LIMIT_MS);

/** Writes the files of a booter, and a configuration that mirrors the channel. Returns the configuration's path. */
async function configureBooter(): Promise<string> {
  const platform = await archive(at("platform"), `platform-${STAMP}`, { "i86pc/kernel/amd64/unix": "the kernel" });
  const boot = await archive(at("boot"), "boot", { pmbr: "p", gptzfsboot: "g" });
  const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  const { secret } = await call("POST", "/v1/auth/api-keys", { description: "booter", scope: "booter" });
  await call("PUT", "/v2/cn-boot-policy", { ...POLICY, enrollment_pi: STAMP, admin_network: ADMIN_NETWORK });
  const block = setupBlock({
    endpoint: server.url,
    stamp: STAMP,
    platform_sha256: sha256(platform),
    boot_sha256: sha256(boot),
  });
  // Sets no upstream_key_file: the booter's package has the release's key.
  const mirror = `upstream_channel_url = "${site_url}/channel.json"`;
  const files: readonly (readonly [string, string | Uint8Array])[] = [
    ["files/undionly.kpxe", "iPXE"],
    ["files/snponly.efi", "iPXE"],
    [`files/os/${STAMP}/platform/i86pc/kernel/amd64/unix`, "the kernel"],
    [`files/os/${STAMP}/platform/i86pc/amd64/boot_archive`, "the boot archive"],
    [`files/setup/platform-${STAMP}.tgz`, platform],
    [`files/setup/boot-${STAMP}.tgz`, boot],
    ["key", `${secret}\n`],
    ["booter.toml", loopbackConfig(folder.path, { server_url: server.url, more: `${block}${mirror}\n` })],
  ];
  for (const [name, content] of files) {
    await mkdir(at(name, ".."), { recursive: true });
    await writeFile(at(name), content, { mode: 0o600 });
  }
  return at("booter.toml");
}

type Shipped = { readonly script: string; readonly env: Readonly<Record<string, string>>; readonly address: string };

/**
 * Acts as a machine that netboots, registers and is approved. Runs the setup script that the machine gets, and returns
 * it.
 */
async function shippedScript(): Promise<Shipped> {
  const { dhcp, http, bus } = booter.ports;
  const machine = await netbootMachine({ mac: MAC, relay: RELAY, ports: { dhcp, http, bus, tftp: 0 } });
  try {
    const { address, file } = await machine.lease("ipxe");
    const { bytes } = await fetchFrom(address, file);
    const [, user = "", password = ""] = /rabbitmq=([^:]+):([^:]+):/.exec(Buffer.from(bytes).toString()) ?? [];
    const identity = { server_uuid: SYSINFO.UUID, mac: MAC };
    const listener = await netbootAgent({ login: { user, password }, port: bus, from: address, ...identity });
    try {
      await listener.next();
      const tell = () => listener.publish(`ur.sysinfo.${SYSINFO.UUID}.1`, SYSINFO);
      tell();
      await booter.line(/ announce\.accepted .*state=awaiting_setup/);
      await call("POST", `/v1/cns/${SYSINFO.UUID}/approve-setup`, { disk_layout: "mirror", hostname: "node-9" });
      const repeated = setInterval(tell, 200);
      const { content } = await listener.next().finally(() => clearInterval(repeated));
      const { script, env } = content as { script: string; env: Record<string, string> };
      // The connection stays open while the script runs, as with the platform's agent.
      const how = { script, env, address };
      await runSetup(how);
      return how;
    } finally {
      listener.close();
    }
  } finally {
    machine.close();
  }
}

let setup_code: number | null = null;
let setup_words = "";

/** Runs the script as the platform does: with its variables, from the machine's address, and on a separate root. */
async function runSetup({ script, env, address }: Shipped): Promise<void> {
  const { bin, state } = await installTools(at("machine"), STAMP);
  // The booter requires that every request of curl comes from the machine's address.
  await writeFile(at("machine/.curlrc"), `interface = "${address}"\n`);
  await mkdir(at("machine/disk"));
  const child = spawn(present("bash"), ["-s"], {
    env: {
      ...env,
      PATH: `${bin}:${env.PATH}:/bin`,
      STATE: state,
      SETUP_ROOT: at("machine/disk"),
      CURL_HOME: at("machine"),
    },
    stdio: ["pipe", "ignore", "pipe"],
  });
  child.stderr.setEncoding("utf8").on("data", (text) => setup_words += text);
  child.stdin.end(script);
  setup_code = await new Promise((done) => child.once("close", done));
}

test.skipIf(missing !== null)(
  "setup installs the agent from the mirrored channel, and the agent sends heartbeats with the setup's credentials",
  { timeout: LIMIT_MS },
  async () => {
    await booter.line(/ mirror\.taken /);
    const { env } = await shippedScript();
    expect([setup_code, setup_words]).toEqual([113, expect.stringContaining(`nodeagent ${VERSION} is in `)]);
    const node = () => call("GET", `/v1/system/cns/${SYSINFO.UUID}`);
    expect(await node()).toMatchObject({ state: "approved", hostname: "node-9" });

    const home = at("machine/disk/opt/nodeagent");
    const key = JSON.parse(await readFile(join(home, "state/credentials.json"), "utf8")).api_key;
    expect(key).toMatch(/^\S{20,}$/);
    expect((await stat(join(home, "state/credentials.json"))).mode & 0o077).toBe(0);
    for (const secret of [key, env["SETUP_TOKEN"]!]) expect(setup_words).not.toContain(secret);
    await expect(access(at("machine/disk/var/tmp/setup"))).rejects.toThrow();

    const before = (await node()).last_seen;
    agent = spawn(join(home, "lib/nodeagent/start"), [], {
      env: { PATH: "/usr/bin:/bin" },
      stdio: ["ignore", 2, "pipe"],
    });
    let output = "";
    agent.stderr!.setEncoding("utf8").on("data", (text) => output += text);
    await expect.poll(async () => (await node()).last_seen !== before, { timeout: 30_000 }).toBe(true);
    // The agent has not registered: it uses the key that its setup wrote.
    expect(output).toContain(`node ${SYSINFO.UUID} reports to ${server.url}`);
    expect(output).not.toMatch(/register|claim|approve/i);
    await expect.poll(async () => (await node()).last_status !== null, { timeout: 30_000 }).toBe(true);
  },
);

test.skipIf(missing !== null)("booter check verifies the channel, and names the problem", async () => {
  const check = async () => (await run(at("programs/bin/booter"), ["check", "--config", at("booter.toml")])).stdout;
  expect(await check()).toMatch(/^ok {3}channel: http:\S+ lists 3 files, signed 20\d\d-/m);
  const path = at("release/channel/channel.json");
  const document = await readFile(path);
  await flipBit(path, document, 20);
  expect(await check()).toMatch(/^fail channel: channel\.json: /m);
  await writeFile(path, document);
  await rename(at("programs/share/berth/release-key.asc"), at("programs/share/berth/away.asc"));
  expect(await check()).toMatch(/^fail channel: ur\.setup\.upstream_key_file: cannot read \S+release-key\.asc/m);
});

test.skipIf(missing !== null)("the mirror serves the signed files, byte for byte", async () => {
  const names = ["channel.json", "channel.json.asc", "install.sh", `nodeagent-${VERSION}-linux-${ARCHITECTURE}.tar.gz`];
  for (const name of names) {
    const answer = await fetch(`http://127.0.0.1:${booter.ports.http}/${name}`);
    expect([name, answer.status]).toEqual([name, 200]);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.equals(await readFile(at("release/channel", name)))).toBe(true);
  }
});
