// Takes a machine from its first boot to an approved node, with the compiled booter and a server that has the
// permissions of `task start`. The tests cover real DHCP packets, the boot script, the AMQP broker, the end of the
// setup, and later actions of operators. The simulated machines use addresses in 127.20.0.0/16, which Linux treats as
// local.
import { randomUUID } from "node:crypto";
import { chmod, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BootRecord } from "../../src/contract/boot.ts";
import type { CnView } from "../../src/contract/cn.ts";
import { openPool } from "../../src/db/pool.ts";
import { loopbackConfig } from "../../src/dev/booter-config.ts";
import { ack, type AmqpClient, login, openClient } from "../../src/dev/amqp-client.ts";
import { type BooterProcess, startBooter } from "../booter/booter-process.ts";
import { actAsAgent } from "../booter/amqp-agent.ts";
import { textOf } from "../booter/packets.ts";
import {
  ADMIN_NETWORK,
  discover,
  dotted,
  httpAsk,
  openRelay,
  type Relay,
  relayed,
  SETUP_BLOCK,
  stageFiles,
  STAMP,
} from "../booter/site.ts";
import { type Sshd, startSshd, whyNoSshd } from "../cli/sshd.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { newMac, POLICY, sysinfoOf } from "../setup/machine.ts";
import { must } from "./client.ts";
import { buildExecutables, executable, run } from "./executables.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PATIENCE = { timeout: 30_000 };
const RESEND_MS = 1_000;
const RETRY_MS = 200;
const HASH = `$6$salt$${"h".repeat(85)}.`;
/** The tag D34623J in the GUID of DHCP option 97, in the byte order of Dell's firmware. */
const TAG = "D34623J";
const GUID = Uint8Array.from([0, ...Buffer.from("44454c4c330010348036c4c04f32334a", "hex")]);

let folder: TemporaryFolder;
let database: FreshDatabase;
let server: ServerProcess;
let booter: BooterProcess;
let relay: Relay;
/** The reason why steps with ssh cannot run on this machine, or null if they can. */
const why_no_sshd = whyNoSshd();

async function startControlPlane(port = "0"): Promise<ServerProcess> {
  const env = { DATABASE_URL: database.url, HOST: "127.0.0.1", PORT: port };
  return await startServer({ env, as_task: true });
}

beforeAll(async () => {
  await buildExecutables();
  folder = await temporaryFolder("netboot-process");
  await stageFiles(folder.path);
  database = await freshDatabase();
  server = await startControlPlane();
  const allowlist = [{ kind: "service_tag", value: TAG }];
  await ask("PUT", "/v2/cn-boot-policy", {
    ...POLICY,
    allowlist,
    enrollment_pi: STAMP,
    admin_network: ADMIN_NETWORK,
  });
  const key = await ask<{ secret: string }>("POST", "/v1/auth/api-keys", { description: "booter", scope: "booter" });
  await writeFile(at("key"), `${key.secret}\n`);
  await chmod(at("key"), 0o600);
  await writeFile(at("booter.toml"), loopbackConfig(folder.path, { server_url: server.url, more: SETUP_BLOCK }));
  booter = await startBooter({ config: at("booter.toml"), executable: executable("booter") });
  relay = await openRelay({ booter });
}, 300_000);
afterAll(async () => {
  for (const each of clients) each.close();
  relay?.close();
  await booter?.kill();
  await server?.kill();
  await database?.drop();
  await folder?.remove();
});

const at = (name: string) => join(folder.path, name);

function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  return must<T>(server.url, { method, path, body });
}

async function opsctl(...argv: readonly string[]): Promise<string> {
  const env = {
    HOME: folder.path,
    PATH: process.env.PATH ?? "",
    OPSCTL_ENDPOINT: server.url,
    OPSCTL_API_KEY: ROOT_KEY,
  };
  const { code, out, err } = await run("opsctl", argv, { env });
  if (code !== 0) throw new Error(`opsctl ${argv.join(" ")}: ${code} ${err}`);
  return out;
}

const recordOf = (mac: string) => ask<BootRecord>("GET", `/v2/cn-boot/${mac}`);
const nodeOf = (server_uuid: string) => ask<CnView>("GET", `/v1/system/cns/${server_uuid}`);

/** Encodes a DISCOVER of iPXE, with or without the machine's GUID. */
function discoverOf(mac: string, guid: Uint8Array | null) {
  const asked = discover(mac);
  return guid === null ? asked : { ...asked, options: [...asked.options, [97, guid] as const] };
}

type Lease = { readonly address: string; readonly path: string };

/**
 * Sends DISCOVER repeatedly until there is a reply, because the booter reads operators' changes only every few seconds.
 */
async function lease(mac: string, guid: Uint8Array | null = null): Promise<Lease> {
  const asked = discoverOf(mac, guid);
  const resend = setInterval(() => relay.send(relayed(asked)), RESEND_MS);
  const reply = await relay.ask(asked).finally(() => clearInterval(resend));
  const url = new URL(textOf(reply.options.get(67)).replace("\0", ""));
  return { address: dotted(reply.yiaddr), path: url.pathname };
}

/** Boots a machine once: gets a lease, and fetches the boot script from the URL in the reply. */
async function script(mac: string, guid: Uint8Array | null = null): Promise<Lease & { readonly text: string }> {
  const leased = await lease(mac, guid);
  const { status, text } = await httpAsk(booter.ports.http, leased.path, { from: leased.address });
  if (status !== 200) throw new Error(`the script of ${mac}: ${status}\n${booter.text()}`);
  return { ...leased, text };
}

type Bare = {
  readonly mac: string;
  readonly address: string;
  readonly server_uuid: string;
  readonly login: { readonly user: string; readonly password: string };
};

const clients: AmqpClient[] = [];

async function onBroker({ mac, address, login: argv }: Bare, server_uuid: string): Promise<AmqpClient> {
  const client = await openClient(booter.ports.bus, address);
  clients.push(client);
  await login(client, argv);
  await actAsAgent(client, { server_uuid, mac });
  return client;
}

const tell = (client: AmqpClient, { server_uuid }: Pick<Bare, "server_uuid">, macs: readonly string[]) =>
  client.publish(
    1,
    `ur.sysinfo.${server_uuid}.a1`,
    JSON.stringify({ ...sysinfoOf(macs), "Serial Number": TAG, UUID: server_uuid, Hostname: "bare-7" }),
  );

async function bare(): Promise<Bare> {
  const mac = newMac();
  const { address, text } = await script(mac, GUID);
  const [, user = "", password = ""] = /rabbitmq=([^:]+):([^:]+):/.exec(text) ?? [];
  return { mac, address, server_uuid: randomUUID(), login: { user, password } };
}

/** Waits for the broker's request for the inventory, and acknowledges it. */
async function inventoryAsked(client: AmqpClient): Promise<void> {
  const asked = await client.delivery();
  expect(asked.key).toMatch(/^ur\.broadcast\.sysinfo\./);
  ack(client, asked);
}

async function announced(machine: Bare, macs: readonly string[] = [machine.mac]): Promise<AmqpClient> {
  const client = await onBroker(machine, machine.server_uuid);
  await inventoryAsked(client);
  tell(client, machine, macs);
  await expect.poll(() => nodeOf(machine.server_uuid).then(({ state }) => state, () => null), PATIENCE)
    .toBe("awaiting_setup");
  return client;
}

const approve = ({ server_uuid }: Bare, hostname: string) =>
  ask("POST", `/v1/cns/${server_uuid}/approve-setup`, { disk_layout: "mirror", hostname });

async function completed(machine: Bare, client: AmqpClient): Promise<void> {
  const shipped = await client.delivery();
  ack(client, shipped);
  const token = JSON.parse(shipped.body).env.SETUP_TOKEN;
  const asked = { from: machine.address, method: "POST", headers: { "x-setup-token": token } };
  const { status } = await httpAsk(booter.ports.http, "/setup/report", { ...asked, body: "complete\tcomplete\t100\n" });
  expect(status).toBe(200);
  expect((await nodeOf(machine.server_uuid)).state).toBe("approved");
}

/**
 * Retries for a while: the AMQP broker accepts a second connection of a machine only after it has noticed the end of
 * the first.
 */
async function until<T>(body: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + PATIENCE.timeout;;) {
    try {
      return await body();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((wake) => setTimeout(wake, RETRY_MS));
    }
  }
}

async function macsOf(server_uuid: string): Promise<readonly string[]> {
  const db = openPool({ url: database.url, connectionsMax: 1, applicationName: "test" });
  try {
    const { rows } = await db.query<{ macs: string[] }>("select macs from cn where server_uuid = $1", [server_uuid]);
    return rows[0]?.macs ?? [];
  } finally {
    await db.close();
  }
}

async function nodeNamed(hostname: string): Promise<Bare> {
  const machine = await bare();
  const client = await announced(machine);
  await approve(machine, hostname);
  await completed(machine, client);
  client.close();
  return machine;
}

describe("a policy of service tags", () => {
  test("admits a machine at its first packet if the GUID contains a listed tag, and no other machine", async () => {
    const [known, unknown] = [newMac(), newMac()];
    const other = Uint8Array.from(GUID);
    other[5] = 0x34;
    relay.send(relayed(discoverOf(unknown, other)));
    const { address } = await lease(known, GUID);
    expect(await recordOf(known)).toMatchObject({ state: "enrolling", address });
    await expect.poll(() => recordOf(unknown).then(({ state }) => state, () => null), PATIENCE).toBe("discovered");
    expect(relay.replies.filter(({ yiaddr }) => yiaddr === 0)).toEqual([]);
  });

  test("admits the other ports of a machine after it has announced them", async () => {
    const machine = await bare();
    const second = newMac();
    relay.send(relayed(discoverOf(second, null)));
    await expect.poll(() => recordOf(second).then(({ state }) => state, () => null), PATIENCE).toBe("discovered");
    const client = await announced(machine, [machine.mac, second]);
    await expect.poll(() => recordOf(second).then(({ state }) => state), PATIENCE).toBe("enrolling");
    const { address } = await recordOf(second);
    expect((await lease(second)).address).toBe(address);
    client.close();
  });
});

test("a discovered machine in rescue mode gets an address and the rescue script", async () => {
  const mac = newMac();
  relay.send(relayed(discoverOf(mac, null)));
  await expect.poll(() => recordOf(mac).then(({ state }) => state, () => null), PATIENCE).toBe("discovered");
  await opsctl("cn", "boot", "rescue", mac);
  const record = await recordOf(mac);
  expect(record).toMatchObject({ state: "discovered", rescue: true, address: expect.stringMatching(/^127\.20\./) });
  const { address, text } = await script(mac);
  expect(address).toBe(record.address);
  expect(text).toMatch(/,noimport=true$/m);
});

test("cn exec reaches a netbooted node at the address of its boot record", async (context) => {
  context.skip(why_no_sshd !== null, why_no_sshd ?? "");
  const machine = await nodeNamed("reached");
  expect((await nodeOf(machine.server_uuid)).admin_ip).toBe(machine.address);
  const sshd: Sshd = await startSshd({ addresses: [machine.address] });
  try {
    const out = await opsctl("cn", "exec", "--nodes", "reached", ...sshd.argv, "--", 'echo "$SSH_CONNECTION"');
    expect(out).toMatch(new RegExp(`^reached: \\S+ \\d+ ${machine.address.replaceAll(".", "\\.")} \\d+$`, "m"));
  } finally {
    await sshd.stop();
  }
});

describe("the root password of a node", () => {
  test("is in its boot scripts from the time it is set until it is cleared, even while the control plane is down", async () => {
    const machine = await nodeNamed("password");
    expect((await script(machine.mac)).text).not.toContain("root_shadow");
    await opsctl("cn", "root-password", "password", "--hash", HASH);
    expect((await script(machine.mac)).text).toContain(`,root_shadow=${HASH}`);

    const { port } = server;
    await server.kill();
    expect((await script(machine.mac)).text).toContain(`,root_shadow=${HASH}`);
    server = await startControlPlane(String(port));
    await expect.poll(() => fetch(`${server.url}/readyz`).then(({ ok }) => ok, () => false), PATIENCE).toBe(true);

    await opsctl("cn", "root-password", "password", "--clear");
    expect((await script(machine.mac)).text).not.toContain("root_shadow");
    expect(booter.text()).not.toContain(HASH);
    expect(server.log()).not.toContain(HASH);
    expect((await httpAsk(booter.ports.metrics, "/metrics")).text).not.toContain("$6$");
    for (const entry of await readdir(at("state"), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      expect((await stat(path)).mode & 0o077, path).toBe(0);
    }
  });

  test("is only in files of the booter that no other user can read", async () => {
    const machine = await nodeNamed("kept");
    await opsctl("cn", "root-password", "kept", "--hash", HASH);
    await script(machine.mac);
    await booter.kill();
    booter = await startBooter({ config: at("booter.toml"), executable: executable("booter") });
    relay.close();
    relay = await openRelay({ booter });
    const kept = await readFile(at("state/records.json"), "utf8");
    expect((await stat(at("state/records.json"))).mode & 0o777).toBe(0o600);
    expect(kept).not.toContain("rabbitmq");
    expect((await script(machine.mac)).text).toContain(`,root_shadow=${HASH}`);
  });
});

describe("S-21, with the compiled booter: a script", () => {
  test("is refused with 404 and an alarm to another address, after its use, and for a guessed MAC", async () => {
    const [mac, other] = [newMac(), newMac()];
    const { address, path } = await lease(mac, GUID);
    const elsewhere = (await lease(other, GUID)).address;
    const guessed = path.replace(mac.replaceAll(":", ""), other.replaceAll(":", ""));
    const status = async (from: string, asked: string) => (await httpAsk(booter.ports.http, asked, { from })).status;
    expect(await status(elsewhere, path)).toBe(404);
    expect(await status(elsewhere, guessed)).toBe(404);
    expect(await status(address, path)).toBe(200);
    expect(await status(address, path)).toBe(404);
    const { text } = await httpAsk(booter.ports.metrics, "/metrics");
    for (const reason of ["ticket_other_address", "ticket_forged", "ticket_used"]) {
      expect(text).toMatch(new RegExp(`^booter_http_refused_total\\{reason="${reason}"\\} [1-9]`, "m"));
      expect(booter.text()).toContain(` reason=${reason}`);
    }
  });
});

describe("a machine that uses another one's server_uuid at the AMQP broker", () => {
  test("gets no setup bundle whatever inventory it sends, and does not block the other machine", async () => {
    const [victim, thief] = [await bare(), await bare()];
    const first = await announced(victim);
    first.close();
    await booter.line(new RegExp(`announce\\.accepted server_uuid=${victim.server_uuid}`));
    await approve(victim, "victim");
    const before = (await nodeOf(victim.server_uuid)).bound_api_key_id;
    const theft = await until(() => onBroker(thief, victim.server_uuid));
    await inventoryAsked(theft);
    tell(theft, victim, [victim.mac, thief.mac]);
    const outcome = new RegExp(
      `(announce\\.refused|setup\\.shipped) server_uuid=${victim.server_uuid} mac=${thief.mac}`,
    );
    expect(await booter.line(outcome)).toContain(" announce.refused ");
    // The thief's connection ends, so the identity is free again.
    await theft.ended();
    expect(await nodeOf(victim.server_uuid)).toMatchObject({ state: "setting_up", bound_api_key_id: before });

    const client = await until(() => onBroker(victim, victim.server_uuid));
    await inventoryAsked(client);
    tell(client, victim, [victim.mac]);
    await completed(victim, client);
    expect(await nodeOf(victim.server_uuid)).toMatchObject({ state: "approved", admin_ip: victim.address });
  });

  test("cannot add its port to the other machine's ports before the approval", async () => {
    const [victim, thief] = [await bare(), await bare()];
    (await announced(victim)).close();
    const theft = await until(() => onBroker(thief, victim.server_uuid));
    await inventoryAsked(theft);
    tell(theft, victim, [thief.mac, victim.mac]);
    await theft.ended();
    expect((await nodeOf(victim.server_uuid)).conflict).toMatchObject({ macs: [thief.mac, victim.mac] });
    expect(await macsOf(victim.server_uuid)).toEqual([victim.mac]);
  });

  test("cannot end the other machine's setup, neither with a reply nor with a start message", async () => {
    const [victim, thief] = [await bare(), await bare()];
    const client = await announced(victim);
    await approve(victim, "undisturbed");
    const shipped = await client.delivery();
    const epoch = shipped.key.split("-").at(-1);
    ack(client, shipped);
    client.close();
    const theft = await until(() => onBroker(thief, victim.server_uuid));
    theft.publish(1, `ur.execute-reply.${victim.server_uuid}.setup-${epoch}`, '{"exit_status":1}');
    theft.publish(
      1,
      `ur.startup.${victim.server_uuid}`,
      JSON.stringify({ ...sysinfoOf([victim.mac, thief.mac]), UUID: victim.server_uuid }),
    );
    await theft.ended();
    expect((await nodeOf(victim.server_uuid)).state).toBe("setting_up");
    const token = JSON.parse(shipped.body).env.SETUP_TOKEN;
    const asked = { from: victim.address, method: "POST", headers: { "x-setup-token": token } };
    const report = { ...asked, body: "complete\tcomplete\t100\n" };
    expect((await httpAsk(booter.ports.http, "/setup/report", report)).status).toBe(200);
    expect((await nodeOf(victim.server_uuid)).state).toBe("approved");
  });
});

describe("the packaged booter.toml", () => {
  /** Applies an operator's edits to the text: folders, key, address, and free ports. */
  const edited = (text: string) => {
    const own = text
      .replace("/var/lib/berth-booter", at("packaged"))
      .replace("/srv/berth-booter", at("files"))
      .replace("https://berth.example", server.url)
      .replace("/etc/berth/booter.key", at("key"))
      .replace('address = "10.77.0.1"\nprefix_len = 24', 'address = "127.0.0.1"\nprefix_len = 8')
      .replace('relay_reply = "giaddr"', 'relay_reply = "source"\nlisten = "127.0.0.1"\nport = 0')
      .replace("port = 5672", "port = 0");
    return `${own}\n[tftp]\nport = 0\n[http]\nport = 0\n[metrics]\nport = 0\n`;
  };

  async function startedWith(text: string): Promise<void> {
    await booter.kill();
    relay.close();
    await writeFile(at("packaged.toml"), text);
    booter = await startBooter({ config: at("packaged.toml"), executable: executable("booter") });
    relay = await openRelay({ booter });
  }

  test("starts no AMQP broker by default; with the [ur] block, a bare machine announces itself and is set up", async () => {
    const shipped = await readFile(join(ROOT, "booter/booter.toml"), "utf8");
    await startedWith(edited(shipped));
    expect(booter.text()).toContain(" booter.started ");
    expect(booter.text()).not.toContain(" bus=");
    expect((await script(newMac(), GUID)).text).not.toContain("rabbitmq=");

    await startedWith(edited(shipped.replace(/^#(?=[^ \n])/gm, "")));
    expect(booter.ports.bus).toBeGreaterThan(0);
    const machine = await nodeNamed("packaged");
    expect(await nodeOf(machine.server_uuid)).toMatchObject({ state: "approved", admin_ip: machine.address });
  });
});
