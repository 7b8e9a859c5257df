// Creates two connected network namespaces. The DHCP server is in the first, and perfdhcp acts as a relay in the
// second. The booter uses a real control plane that has a boot record for every machine. Kea has a reservation for
// every machine.
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { compile } from "../../cli/compile.ts";
import { readConfig } from "../../src/config.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openClient } from "../../src/db/pool.ts";
import { openControlPlane } from "../../src/wiring.ts";
import { serveControlPlane, startBooter } from "../booter/booter-process.ts";
import { openWire } from "../booter/wire.ts";
import { ownCluster } from "../support/cluster.ts";
import { databaseUrl } from "../support/database-url.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

export const MACHINES = 1_000;
export const [SERVER, RELAY] = ["10.78.0.1", "10.78.0.2"];
const ROOT_KEY = `opsk_${"bench".padEnd(12, "0")}_${randomBytes(16).toString("hex")}`;
const STAMP = "20260901T000000Z";
const DATABASE = "bench_dhcp";
const STATEMENT_LIMIT_MS = 60_000;

export type Server = { readonly pid: number; stop(): Promise<void> };
export type DhcpSite = {
  /** The namespace of perfdhcp. `wire` is the interface in this namespace. */
  readonly clients: string;
  readonly wire: string;
  /** The path of a file with the MACs of the machines. */
  readonly macs: string;
  startBooter(): Promise<Server>;
  startKea(): Promise<Server>;
  close(): Promise<void>;
};

const run = promisify(execFile);
async function inOrder(commands: readonly string[]): Promise<void> {
  for (const each of commands) {
    const [program = "", ...words] = each.split(" ");
    await run(program, words);
  }
}

export async function openDhcpSite(): Promise<DhcpSite> {
  const folder = await temporaryFolder("bench-dhcp");
  const closers: (() => Promise<unknown>)[] = [folder.remove];
  const close = async () => {
    for (const each of closers.reverse()) await each();
  };
  try {
    const [servers, clients] = [`berth-dhcps-${process.pid}`, `berth-dhcpc-${process.pid}`];
    closers.push(() => inOrder([`ip netns del ${servers}`, `ip netns del ${clients}`]));
    await inOrder([
      `ip netns add ${servers}`,
      `ip netns add ${clients}`,
      `ip link add vs0 netns ${servers} type veth peer name vc0 netns ${clients}`,
      `ip -n ${servers} link set lo up`,
      `ip -n ${servers} addr add ${SERVER}/16 dev vs0`,
      `ip -n ${servers} link set vs0 up`,
      `ip -n ${clients} addr add ${RELAY}/16 dev vc0`,
      `ip -n ${clients} link set vc0 up`,
    ]);
    const wire = await openWire(servers, `bd${process.pid}`);
    closers.push(wire.close);
    const machines = Array.from({ length: MACHINES }, (_, at) => ({ mac: macOf(at), address: addressOf(at) }));
    const macs = join(folder.path, "macs");
    await writeFile(macs, machines.map(({ mac }) => `${mac}\n`).join(""));
    const kea = join(folder.path, "kea.json");
    await writeFile(kea, keaConfig(machines));
    const config = await prepareBooter(folder.path, { closers, address: wire.here });
    const executable = join(folder.path, "booter");
    await compile("booter/main.ts", executable);
    const inside = ["ip", "netns", "exec", servers];
    return {
      clients,
      wire: "vc0",
      macs,
      async startBooter() {
        const booter = await startBooter({ config, prefix: inside, executable });
        return { pid: booter.pid, stop: booter.kill };
      },
      startKea: () => Promise.resolve(startKea(inside, kea, folder.path)),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type Preparing = { readonly closers: (() => Promise<unknown>)[]; readonly address: string };

async function prepareBooter(folder: string, { closers, address: plane_address }: Preparing): Promise<string> {
  const cluster = await ownCluster({ fsync: "off" });
  closers.push(() => cluster.remove());
  const admin = await openClient({ url: cluster.url, statementLimit_ms: STATEMENT_LIMIT_MS });
  await admin.query(`create database ${DATABASE}`);
  await admin.end();
  const url = databaseUrl(cluster.url, DATABASE);
  await migrate(url);
  const server = readConfig({ BERTH_ROOT_KEY: ROOT_KEY, BERTH_SECRET_KEY: randomBytes(32).toString("hex") });
  const plane = await openControlPlane({ config: server, databaseUrl: url, resident: true, show: () => {} });
  closers.push(() => plane.close());
  const socket = await serveControlPlane({ plane }, plane_address);
  closers.push(socket.close);
  const call = async (method: string, path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${ROOT_KEY}`, "content-type": "application/json" };
    const answer = await fetch(socket.url + path, { method, headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  await call("PUT", "/v2/cn-boot-policy", {
    auto_enroll: true,
    allowlist: [],
    enrollment_pi: STAMP,
    enrollment_kernel_args: [],
    admin_network: {
      ipv4_block: "10.78.0.0/16",
      provision_start_ipv4: addressOf(0),
      provision_end_ipv4: "10.78.200.0",
      gateway: "10.78.255.254",
      resolvers: [],
    },
  });
  for (let at = 0; at < MACHINES; at++) {
    const { address } = await call("POST", "/v2/booter/seen", { mac: macOf(at), client: { arch: 7 } });
    if (address !== addressOf(at)) throw new Error(`${macOf(at)} has ${address}, not ${addressOf(at)}`);
  }
  const { secret } = await call("POST", "/v1/auth/api-keys", { description: "bench", scope: "booter" });
  await writeFile(join(folder, "key"), `${secret}\n`, { mode: 0o600 });
  const platform = join(folder, "files/os", STAMP, "platform/i86pc");
  for (const file of ["kernel/amd64/unix", "amd64/boot_archive"]) {
    await mkdir(join(platform, file, ".."), { recursive: true });
    await writeFile(join(platform, file), "nothing boots here");
  }
  const path = join(folder, "booter.toml");
  await writeFile(
    path,
    `state_dir = "${folder}/state"
files_dir = "${folder}/files"
[control_plane]
url = "${socket.url}"
key_file = "${folder}/key"
[[segment]]
address = "${SERVER}"
prefix_len = 16
[metrics]
port = 0
`,
  );
  return path;
}

function startKea(inside: readonly string[], config: string, folder: string): Server {
  const [program = "", ...words] = [...inside, "kea-dhcp4", "-c", config];
  const env = { ...process.env, KEA_PIDFILE_DIR: folder, KEA_LOCKFILE_DIR: folder };
  const child = spawn(program, words, { stdio: "ignore", env });
  const ended = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
  return {
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

function macOf(at: number): string {
  return `02:be:d0:00:${(at >> 8).toString(16).padStart(2, "0")}:${(at & 255).toString(16).padStart(2, "0")}`;
}
/**
 * Returns the address of the machine with this number. The machines get these addresses in order, because the control
 * plane allocates the lowest free address.
 */
function addressOf(at: number): string {
  return `10.78.${1 + (at >> 8)}.${at & 255}`;
}

function keaConfig(machines: readonly { readonly mac: string; readonly address: string }[]): string {
  const reservations = machines.map(({ mac, address }) => ({ "hw-address": mac, "ip-address": address }));
  return JSON.stringify({
    Dhcp4: {
      "interfaces-config": { interfaces: ["vs0"], "dhcp-socket-type": "udp" },
      "lease-database": { type: "memfile", persist: false },
      "multi-threading": { "enable-multi-threading": true, "thread-pool-size": 2, "packet-queue-size": 64 },
      "valid-lifetime": 3_600,
      subnet4: [{ subnet: "10.78.0.0/16", reservations }],
      loggers: [{ name: "kea-dhcp4", severity: "WARN", output_options: [{ output: "/dev/null" }] }],
    },
  });
}
