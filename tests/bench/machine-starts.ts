// Measures the start of a machine as a tenant sees it: from POST /v1/instances until the guest's first line, and until
// ssh works. Compares these times with the times of plain QEMU with the same image. Afterwards creates many machines on
// one node and measures the memory of the agent. The server runs as `task start` runs it, and the agent is compiled.
// Needs root, QEMU and ssh. Options: --rounds=N, --machines=N, --json.
import { execFile, spawn } from "node:child_process";
import { randomInt, randomUUID } from "node:crypto";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { parseArgs, promisify } from "node:util";
import { detectHost } from "../../nodeagent/qemu/host.ts";
import { seedVolume } from "../../nodeagent/qemu/seed.ts";
import { TINY_GUEST_LINE, tinyGuest } from "../../src/dev/tiny-guest.ts";
import { migrate } from "../../src/db/migrate.ts";
import { imageBody } from "../compute/instance-fixture.ts";
import { serveImage } from "../compute/image-server.ts";
import { builtGuest } from "../guest/guest.ts";
import { lacksMachine, MEMORY_BYTES, processes } from "../machines/machine.ts";
import { openSite, type Site } from "../machines/site.ts";
import { openConsoleAt } from "../processes/console-fixture.ts";
import { ownCluster } from "../support/cluster.ts";
import { okOf } from "../support/control-plane.ts";
import { present } from "../support/optional-programs.ts";

const MIB = 2 ** 20;
/** The number of machines that are created at the same time. */
const CREATES_AT_ONCE = 4;
const TINY_MEMORY_BYTES = 32 * MIB;
/** A long time limit, because a guest without KVM boots slowly on a busy machine. */
const LIMIT_MS = 300_000;
const LOOK_MS = 10;
/** The first line of the test guest's own program. */
const FIRST_LINE = /guest: [0-9.]+ init/;
/** The address of the guest in the network that QEMU emulates for plain machines. */
const PLAIN_ADDRESS = "10.0.2.15";
/** The range of local ports from which QEMU forwards connections to ssh in a plain machine. */
const PORTS = { first: 42_000, last: 48_000 } as const;
const run = promisify(execFile);

const lacks = lacksMachine("ssh", "ssh-keygen", "nft");
if (lacks !== null) {
  console.error(`machine starts: left out: ${lacks}`);
  process.exit(0);
}
const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    machines: { type: "string", default: "50" },
    json: { type: "boolean", default: false },
  },
});

type Start = { readonly first_line_ms: number; readonly ssh_ms: number };
type BerthStart = Start & { readonly answer_ms: number; readonly control_plane_ms: number };

const { accelerator } = await detectHost({
  folders: { machine_dir: "", run_dir: "" },
  signal: new AbortController().signal,
  log: () => {},
});
const cluster = await ownCluster({ fsync: "on", synchronous_commit: "on" });
let site: Site | undefined;
try {
  await migrate(cluster.url);
  site = await openSite({ database: () => Promise.resolve({ url: cluster.url, drop: () => Promise.resolve() }) });
  const key = join(site.folder, "key");
  await run(present("ssh-keygen"), ["-q", "-t", "ed25519", "-N", "", "-f", key]);
  const public_key = (await readFile(`${key}.pub`, "utf8")).trim();
  const body = { name: "bench", public_key };
  const ssh_key_id =
    okOf(await site.call("POST", `/v1/tenants/${site.tenant_id}/projects/${site.project_id}/ssh-keys`, { body })).id;
  const plain: Start[] = [];
  const berth: BerthStart[] = [];
  // The first round is not measured, because its machine fetches and converts the image, which later machines use.
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    plain.push(await startPlain(site, key, public_key));
    berth.push(await startWithBerth(site, key, ssh_key_id));
  }
  const others = berth.slice(1);
  const starts = {
    rounds: others.length,
    plain_first_line_ms: median(plain.slice(1).map((each) => each.first_line_ms)),
    plain_ssh_ms: median(plain.slice(1).map((each) => each.ssh_ms)),
    first_line_ms: median(others.map((each) => each.first_line_ms)),
    ssh_ms: median(others.map((each) => each.ssh_ms)),
    answer_ms: median(others.map((each) => each.answer_ms)),
    control_plane_ms: median(others.map((each) => each.control_plane_ms)),
  };
  console.error(JSON.stringify(starts));
  const measured = { ...starts, ...await startMany(site, Number(values.machines)) };
  if (values.json) console.log(JSON.stringify({ measured_at: new Date().toISOString(), ...measured }, null, 2));
  else for (const [name, value] of Object.entries(measured)) console.log(`${name.padEnd(28)} ${value.toPrecision(3)}`);
} finally {
  await site?.close();
  await cluster.remove();
}
// Ends the process now, because the database driver keeps idle sockets open for a while.
process.exit(0);

/** Starts a machine through the API, measures the start, and deletes the machine. */
async function startWithBerth(site: Site, key: string, ssh_key_id: string): Promise<BerthStart> {
  const begun_ms = performance.now();
  const since = () => performance.now() - begun_ms;
  const made = okOf(await site.make({ ssh_key_ids: [ssh_key_id] }));
  const answer_ms = since();
  const path = `/v1/instances/${made.id}`;
  const { ticket } = okOf(await site.call("POST", `${path}/console-ticket`, { body: {} }));
  const console = await openConsoleAt(`${site.url}${path}/console`, ticket);
  const [nic] = okOf(await site.call("GET", `/v1/nics?instance=${made.id}`)).items;
  const { vni } = okOf(await site.call("GET", `/v1/vpcs/${nic.vpc_id}`));
  const node = site.nodes[0]!;
  const inRouter = [...node.enter, present("ip"), "netns", "exec", `berth-${vni}`];
  const logged = printed(() => console.text(), FIRST_LINE).then(since);
  const entered = untilSsh([...inRouter, ...sshArgv(key, nic.primary_ipv4, 22)]).then(since);
  const [first_line_ms, ssh_ms] = await Promise.all([logged, entered]);
  console.socket.close();
  const [job] = okOf(await site.operator("GET", "/v1/system/jobs")).items;
  const node_ms = Date.parse(job.completed_at) - Date.parse(job.claimed_at);
  okOf(await site.call("POST", `${path}/stop`));
  okOf(await site.call("DELETE", path));
  return { first_line_ms, ssh_ms, answer_ms, control_plane_ms: answer_ms - node_ms };
}

/** Starts QEMU without Berth on a copy of the image, with a seed volume in the form that Berth uses. */
async function startPlain(site: Site, key: string, public_key: string): Promise<Start> {
  const guest = await builtGuest();
  const [disk, seed] = [join(site.folder, "plain.qcow2"), join(site.folder, "plain-seed.img")];
  await copyFile(guest.path, disk);
  const [id, vpc_id, subnet_id] = [randomUUID(), randomUUID(), randomUUID()];
  const mac = "02:00:00:00:00:01";
  const nic = { id, name: "net0", mac, primary_ipv4: PLAIN_ADDRESS, primary_ipv6: null, vpc_id, subnet_id };
  // The cast is safe, because the seed reads only these parts of a plan.
  const plan = {
    instance: { id, name: "plain" },
    nics: [nic],
    subnets: [{ id: subnet_id, ipv4_block: "10.0.2.0/24" }],
    ssh_public_keys: [public_key],
    user_data: null,
  } as unknown as Parameters<typeof seedVolume>[0];
  await writeFile(seed, seedVolume(plan, new Map()));
  const port = randomInt(PORTS.first, PORTS.last);
  const begun_ms = performance.now();
  const since = () => performance.now() - begun_ms;
  const qemu = spawn(present("qemu-system-x86_64"), [
    ...["-nodefaults", "-machine", "q35", "-accel", accelerator, "-cpu", accelerator === "kvm" ? "host" : "max"],
    ...["-display", "none"],
    ...["-m", String(MEMORY_BYTES / MIB), "-serial", "stdio", "-drive", `file=${disk},format=qcow2,if=virtio`],
    ...["-drive", `file=${seed},format=raw,if=virtio,read-only=on`],
    ...["-nic", `user,model=virtio-net-pci,mac=${mac},hostfwd=tcp:127.0.0.1:${port}-:22`],
  ], { stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  qemu.stdout.on("data", (chunk) => text += chunk);
  try {
    const logged = printed(() => text, FIRST_LINE).then(since);
    const entered = untilSsh(sshArgv(key, "127.0.0.1", port)).then(since);
    const [first_line_ms, ssh_ms] = await Promise.all([logged, entered]);
    return { first_line_ms, ssh_ms };
  } finally {
    qemu.kill("SIGKILL");
  }
}

/** Creates many machines on the node, and measures the memory of the agent. The guest is a boot sector. */
async function startMany(site: Site, machines: number) {
  const bytes = tinyGuest(MIB);
  const images = await serveImage(bytes, site.address);
  const body = imageBody({ ...images, size_bytes: bytes.length, content_bytes: bytes.length });
  const image_id = okOf(await site.call("POST", `/v1/tenants/${site.tenant_id}/images`, { body })).id;
  // Each machine has one CPU. With this factor, all machines fit on a node with one CPU.
  const factor = ["--overprovision-cpu", String(machines)];
  const allowed = await site.opsctl(["cn", "placement", "set", site.uuids[0]!, ...factor]);
  if (allowed.code !== 0) throw new Error(allowed.err);
  const before_bytes = await agentBytes(site);
  const begun_ms = performance.now();
  let left = machines;
  const ids: string[] = [];
  await Promise.all(Array.from({ length: CREATES_AT_ONCE }, async () => {
    while (left-- > 0) ids.push(okOf(await site.make({ image_id, memory_bytes: TINY_MEMORY_BYTES })).id);
  }));
  const all_run_ms = performance.now() - begun_ms;
  const last = okOf(await site.call("POST", `/v1/instances/${ids.at(-1)}/console-ticket`, { body: {} }));
  const console = await openConsoleAt(`${site.url}/v1/instances/${ids.at(-1)}/console`, last.ticket);
  await printed(() => console.text(), new RegExp(TINY_GUEST_LINE));
  console.socket.close();
  const running = (await site.machines()).length;
  if (running !== machines) throw new Error(`${running} of ${machines} machines run`);
  const agent_bytes_per_machine = (await agentBytes(site) - before_bytes) / machines;
  await images.close();
  return { machines, all_run_ms, agent_bytes_per_machine };
}

/** Returns the resident memory of the agent and of the agent's process that serves guests. */
async function agentBytes(site: Site): Promise<number> {
  const lines = (await processes()).filter((line) =>
    / (?:run|serve-guests) --/.test(line) && line.includes(site.folder)
  );
  const sizes = await Promise.all(lines.map(async (line) => {
    const status = await readFile(join("/proc", line.split(" ", 1)[0]!, "status"), "utf8");
    return Number(/^VmRSS:\s+([0-9]+) kB$/m.exec(status)?.[1] ?? 0) * 1_024;
  }));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function sshArgv(key: string, address: string, port: number): string[] {
  const options = ["BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "ConnectTimeout=1"];
  return [
    present("ssh"),
    ...options.flatMap((option) => ["-o", option]),
    "-p",
    String(port),
    "-i",
    key,
    `root@${address}`,
  ];
}

/** Repeats ssh until it can run a command. */
async function untilSsh([program = "", ...argv]: readonly string[]): Promise<void> {
  const end_ms = performance.now() + LIMIT_MS;
  while (!await run(program, [...argv, "true"]).then(() => true, () => false)) {
    if (performance.now() > end_ms) throw new Error(`ssh was not possible: ${argv.join(" ")}`);
  }
}

async function printed(text: () => string, pattern: RegExp): Promise<void> {
  for (const end_ms = performance.now() + LIMIT_MS; !pattern.test(text());) {
    if (performance.now() > end_ms) throw new Error(`the guest did not print ${pattern}`);
    await new Promise((wake) => setTimeout(wake, LOOK_MS));
  }
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}
