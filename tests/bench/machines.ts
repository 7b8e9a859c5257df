// Measures real machines on one node. First it compares the time from the start to the guest's first line with plain
// QEMU. Then it measures the memory and the processor time of the agent with many machines. The guest is a boot sector
// without an operating system, so the figures describe only QEMU and the agent. Needs root and QEMU. Options:
// --machines=N, --json.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { processEnvironment } from "../../cli/internal/environment.ts";
import type { Driver, VmPlan } from "../../nodeagent/driver.ts";
import { qemuDriver } from "../../nodeagent/qemu/qemu-driver.ts";
import { AGENT_METRICS_MS } from "../../src/contract/limits.ts";
import { pathOf, present } from "../support/optional-programs.ts";
import { TINY_GUEST_LINE, tinyGuest } from "../../src/dev/tiny-guest.ts";

const MIB = 2 ** 20;
const DISK_BYTES = MIB;
const MEMORY_BYTES = 32 * MIB;
const ROUNDS = 5;
const SAMPLES = 10;
const LOOK_MS = 5;
const LIMIT_MS = 120_000;
/**
 * The number of machines that start at the same time. After a boot of its node, the agent starts this number at a time.
 */
const STARTS_AT_ONCE = 4;
/** The report states the share of a processor for this number of machines. */
const STATED_MACHINES = 100;

if (process.getuid?.() !== 0 || pathOf("qemu-system-x86_64") === null) {
  console.error("machines: left out, because they need root and QEMU");
  process.exit(0);
}
const { values } = parseArgs({
  options: { machines: { type: "string", default: "50" }, json: { type: "boolean", default: false } },
});
const machines = Number(values.machines);
const folder = await mkdtemp(join(tmpdir(), "bm-"));
const stop = new AbortController();
const ids: string[] = [];
let driver: Driver | undefined;
try {
  // The users that run QEMU must be able to enter the folder.
  await chmod(folder, 0o711);
  await writeFile(join(folder, "guest.raw"), tinyGuest(DISK_BYTES));
  await mkdir(join(folder, "state"));
  driver = await openDriver();
  const image_path = join(driver.images!.folder, "ab".repeat(32));
  await writeFile(join(driver.images!.folder, "source"), tinyGuest(DISK_BYTES));
  await driver.images!.prepare(join(driver.images!.folder, "source"), image_path, {
    bytes_max: DISK_BYTES,
    makeRoom: () => Promise.resolve(),
    signal: new AbortController().signal,
  });
  const plain_ms = await times(plainQemu);
  const agent_ms = await times(async () => {
    const begun_ms = performance.now();
    const id = await boot(driver!, image_path);
    await firstLine(driver!, id);
    return performance.now() - begun_ms;
  });
  for (const id of ids.splice(0)) await driver.vms.destroy(id);
  const rss_before = process.memoryUsage().rss;
  const begun_ms = performance.now();
  await Promise.all(Array.from({ length: STARTS_AT_ONCE }, async () => {
    while (ids.length < machines) await boot(driver!, image_path);
  }));
  await Promise.all(ids.map((id) => firstLine(driver!, id)));
  const all_ms = performance.now() - begun_ms;
  const memory_each = (process.memoryUsage().rss - rss_before) / ids.length;
  await driver.metrics(); // The first sample also finds the QEMU processes, so it is not measured.
  const used_us = process.cpuUsage();
  for (let sample = 0; sample < SAMPLES; sample += 1) await driver.metrics();
  const { user, system } = process.cpuUsage(used_us);
  const sample_ms = (user + system) / 1_000 / SAMPLES;
  const measured = {
    plain_qemu_first_line_ms: median(plain_ms),
    agent_first_line_ms: median(agent_ms),
    machines: ids.length,
    all_run_ms: all_ms,
    agent_bytes_per_machine: memory_each,
    metrics_sample_ms: sample_ms,
    metrics_core_share_of_100: sample_ms / AGENT_METRICS_MS * STATED_MACHINES / ids.length,
  };
  if (values.json) console.log(JSON.stringify({ measured_at: new Date().toISOString(), ...measured }, null, 2));
  else print(measured);
} finally {
  for (const id of ids) await driver?.vms.destroy(id).catch(() => {});
  stop.abort();
  await rm(folder, { recursive: true, force: true });
}

function print(measured: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(measured)) console.log(`${name.padEnd(28)} ${value.toPrecision(3)}`);
}

function openDriver(): Promise<Driver> {
  return qemuDriver({
    state_dir: join(folder, "state"),
    folders: { machine_dir: join(folder, "lib"), run_dir: join(folder, "run") },
    server_uuid: randomUUID(),
    hostname: "bench",
    disk_reserve: 0.1,
    nic_tags: [],
    environment: processEnvironment(stop.signal),
    log: () => {},
    host: { halt_wait_ms: 0 },
  });
}

/** Creates and boots a machine. Returns its id. */
async function boot({ vms }: Driver, image_path: string): Promise<string> {
  const id = randomUUID();
  ids.push(id);
  // The cast is safe, because the driver reads only these parts of a plan.
  const plan = {
    instance: { id, name: "bench", brand: "kvm", tenant_id: randomUUID(), cpu: 1, memory_bytes: MEMORY_BYTES },
    image: { sha256: "ab".repeat(32) },
    image_path,
    disks: [{ id: randomUUID(), name: "boot", kind: "boot", size_bytes: DISK_BYTES }],
    nics: [],
    subnets: [],
    ssh_public_keys: [],
    user_data: null,
    managed_identity: null,
  } as unknown as VmPlan;
  await vms.createDisks(plan);
  await vms.createNics(plan);
  await vms.create(plan);
  await vms.boot(id);
  return id;
}

async function firstLine(driver: Driver, id: string): Promise<void> {
  const text = () => new TextDecoder().decode(driver.console(id)?.ring() ?? new Uint8Array());
  for (const end_ms = performance.now() + LIMIT_MS; !text().includes(TINY_GUEST_LINE);) {
    if (performance.now() > end_ms) throw new Error(`machine ${id} printed nothing`);
    await new Promise((wake) => setTimeout(wake, LOOK_MS));
  }
}

/** Starts QEMU without an agent on the same disk. Returns the time to the guest's first line. */
async function plainQemu(): Promise<number> {
  const begun_ms = performance.now();
  const argv = ["-nodefaults", "-machine", "q35", "-accel", "tcg", "-m", "32M", "-display", "none"];
  const drive = ["-drive", `file=${join(folder, "guest.raw")},format=raw,if=virtio,snapshot=on`, "-serial", "stdio"];
  const qemu = spawn(present("qemu-system-x86_64"), [...argv, ...drive], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  await new Promise<void>((done) => {
    qemu.stdout.on("data", (chunk) => {
      text += chunk;
      if (text.includes(TINY_GUEST_LINE)) done();
    });
    qemu.once("close", () => done());
  });
  const took_ms = performance.now() - begun_ms;
  qemu.kill("SIGKILL");
  if (!text.includes(TINY_GUEST_LINE)) throw new Error("plain QEMU ended before the guest's first line");
  return took_ms;
}

async function times(measure: () => Promise<number>): Promise<readonly number[]> {
  const found: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) found.push(await measure());
  return found;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}
