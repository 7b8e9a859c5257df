// Opens a QEMU driver with its own folders, and creates instances of the test guest on it.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, type TestContext } from "vitest";
import { processEnvironment } from "../../cli/internal/environment.ts";
import type { Driver, VmPlan } from "../../nodeagent/driver.ts";
import type { Folders } from "../../nodeagent/qemu/folders.ts";
import type { Host } from "../../nodeagent/qemu/host.ts";
import { qemuDriver } from "../../nodeagent/qemu/qemu-driver.ts";
import { builtGuest, type Guest, GUEST_BUILD } from "../guest/guest.ts";
import { lacking, type Optional, present } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** The time limit for the boot of a guest without KVM on a busy machine. */
export const BOOT = { timeout: 180_000, interval: 200 };
/** The time limit of a change that does not need the guest. */
export const SOON = { timeout: 30_000, interval: 50 };
export const MEMORY_BYTES = 160 * 2 ** 20;
const MIB = 2 ** 20;
const run = promisify(execFile);

/** Returns null if this machine can run VMs and has these programs. Otherwise returns the missing things, as a text. */
export function lacksMachine(...programs: readonly Optional[]): string | null {
  const lacks = lacking(
    "qemu-system-x86_64",
    "ip",
    "nsenter",
    "setpriv",
    "unshare",
    "python3",
    ...GUEST_BUILD,
    ...programs,
  );
  return lacks ?? (process.getuid?.() === 0 ? null : "VMs need root");
}

/** Skips the test on a machine that cannot run VMs. */
export function needsMachine({ skip }: Pick<TestContext, "skip">): void {
  const lacks = lacksMachine();
  skip(lacks !== null, lacks ?? "");
}

/**
 * Opens the fixture that the tests of a file share, and closes the fixture after the tests. On a machine that cannot
 * run VMs, or lacks one of the programs, the tests are skipped.
 * @param open returns the function that closes the fixture
 */
export function withMachine(open: () => Promise<() => Promise<unknown>>, ...programs: readonly Optional[]): void {
  const lacks = lacksMachine(...programs);
  let close: (() => Promise<unknown>) | undefined;
  beforeEach((context) => context.skip(lacks !== null, lacks ?? ""));
  beforeAll(async () => {
    if (lacks === null) close = await open();
  });
  afterAll(() => close?.());
}

export type TestMachine = {
  readonly folders: Folders;
  readonly state_dir: string;
  /** Lines that the driver logged. */
  readonly log: string[];
  driver(): Driver;
  /** Disconnects the driver, then starts a new driver, as a restart of the agent does. */
  restart(host?: Partial<Host>): Promise<Driver>;
  /** Disconnects the driver. Its VMs keep running. */
  leave(): void;
  /** Prepares the guest's image, and returns a plan for an instance of the guest. */
  plan(change?: Partial<VmPlan>): Promise<VmPlan>;
  /** Creates and boots an instance, and returns its id. */
  create(change?: Partial<VmPlan>, disk_bytes?: number): Promise<string>;
  /** Lists the files, processes and namespaces that exist for the VMs of this driver. */
  left(): Promise<readonly string[]>;
  remove(): Promise<void>;
};

/** Opens a machine. `machine_dir` is the folder of the machine's disks, by default a temporary folder. */
export async function openMachine(host: Partial<Host> = {}, machine_dir?: string): Promise<TestMachine> {
  const folder = await temporaryFolder("vm");
  // The user of the QEMU process must be able to enter the folder.
  await chmod(folder.path, 0o711);
  const folders = { machine_dir: machine_dir ?? join(folder.path, "lib"), run_dir: join(folder.path, "run") };
  const state_dir = join(folder.path, "state");
  await mkdir(state_dir);
  const log: string[] = [];
  const ids = new Set<string>();
  let stop = new AbortController();
  let driver = await open(host);

  function open(host: Partial<Host>): Promise<Driver> {
    return qemuDriver({
      state_dir,
      folders,
      server_uuid: "3f2a9c1e-0000-4000-8000-00000000c0de",
      hostname: "machine",
      disk_reserve: 0.1,
      nic_tags: ["admin", "external"],
      environment: { ...processEnvironment(stop.signal), home_dir: join(folder.path, "home") },
      log: (line) => void log.push(line),
      host,
    });
  }

  async function plan(change: Partial<VmPlan> = {}): Promise<VmPlan> {
    const guest = await builtGuest();
    const image_path = await prepared(driver, guest);
    const made = planOf(guest, image_path, change);
    ids.add(made.instance.id);
    return made;
  }

  return {
    folders,
    state_dir,
    log,
    driver: () => driver,
    restart: async (host = {}) => {
      stop.abort();
      stop = new AbortController();
      return driver = await open(host);
    },
    leave: () => stop.abort(),
    plan,
    create: async (change, disk_bytes) => {
      const made = await plan(change);
      if (disk_bytes !== undefined) Object.assign(made.disks[0]!, { size_bytes: disk_bytes });
      const { vms } = driver;
      await vms.createDisks(made);
      await vms.createNics(made);
      await vms.create(made);
      await vms.boot(made.instance.id);
      return made.instance.id;
    },
    left: async () => [
      ...await readdir(join(folders.machine_dir, "vm")),
      ...await readdir(join(folders.run_dir, "vm")).catch(() => []),
      ...(await namespaces()).filter((name) => [...ids].some((id) => name.includes(id))),
      ...(await processes()).filter((line) => line.includes(folders.run_dir)),
    ],
    remove: async () => {
      // A guest may have arrived from another machine.
      const { vms } = await driver.status();
      for (const id of new Set([...ids, ...Object.keys(vms as object)])) await driver.vms.destroy(id);
      stop.abort();
      await folder.remove();
    },
  };
}

async function prepared({ images }: Driver, guest: Guest): Promise<string> {
  const path = join(images!.folder, guest.sha256);
  if ((await readdir(images!.folder)).includes(guest.sha256)) return path;
  const copy = join(images!.folder, ".copy");
  await run("cp", [guest.path, copy]);
  await images!.prepare(copy, path, {
    bytes_max: guest.content_bytes,
    makeRoom: async () => {},
    signal: new AbortController().signal,
  });
  return path;
}

function planOf(guest: Guest, image_path: string, change: Partial<VmPlan>): VmPlan {
  const id = randomUUID();
  const [vpc_id, subnet_id] = [randomUUID(), randomUUID()];
  // The driver reads only these parts of a plan.
  const plan = {
    instance: { id, name: "web1", brand: "kvm", tenant_id: randomUUID(), cpu: 1, memory_bytes: MEMORY_BYTES },
    image: { sha256: guest.sha256 },
    image_path,
    disks: [{ id: randomUUID(), name: "boot", kind: "boot", size_bytes: 128 * MIB }],
    nics: [{
      id: randomUUID(),
      name: "net0",
      mac: `02:00:${id.slice(0, 8).match(/../g)!.join(":")}`,
      primary_ipv4: "10.0.1.5",
      primary_ipv6: null,
      vpc_id,
      subnet_id,
    }],
    subnets: [{ id: subnet_id, ipv4_block: "10.0.1.0/24" }],
    ssh_public_keys: [],
    user_data: null,
    managed_identity: null,
    ...change,
  };
  // `plan` omits fields that the QEMU driver does not read.
  return plan as unknown as VmPlan;
}

/** Returns the console's text since the VM's last start. */
export function consoleText(driver: Driver, id: string): string {
  return new TextDecoder().decode(driver.console(id)?.ring() ?? new Uint8Array());
}

/** Waits until the guest has booted. */
export async function ready(driver: Driver, id: string): Promise<void> {
  await expect.poll(() => consoleText(driver, id), BOOT).toContain("ready host=");
}

/** Runs a command in the guest's shell and returns its output. */
export async function inGuest(driver: Driver, id: string, command: string): Promise<string> {
  const mark = randomUUID();
  const sent = `echo "<$((0))${mark}"; ${command}; echo "${mark}$((0))>"\n`;
  driver.console(id)!.write(new TextEncoder().encode(sent));
  const pattern = new RegExp(`<0${mark}\\r?\\n([\\s\\S]*?)\\r?\\n?${mark}0>`);
  await expect.poll(() => pattern.test(consoleText(driver, id)), BOOT).toBe(true);
  return pattern.exec(consoleText(driver, id))![1]!.trim();
}

/** Types into the guest's console without waiting. */
export function type(driver: Driver, id: string, text: string): void {
  driver.console(id)!.write(new TextEncoder().encode(text));
}

export type SeenVm = { readonly state: string; readonly reason: string | null };

export async function vmOf(driver: Driver, id: string): Promise<SeenVm | undefined> {
  return ((await driver.status()).vms as Readonly<Record<string, SeenVm>>)[id];
}

/** Returns the process id of a VM's QEMU. */
export async function qemuPid(id: string): Promise<number> {
  const found = (await processes()).find((line) => line.includes(`-uuid ${id}`));
  if (found === undefined) throw new Error(`VM ${id} has no process`);
  return Number(found.split(" ", 1)[0]);
}

async function namespaces(): Promise<readonly string[]> {
  return (await run(present("ip"), ["netns", "list"])).stdout.split("\n");
}

/** Lists processes as "PID COMMAND". */
export async function processes(): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^[0-9]+$/.test(name));
  const lines = await Promise.all(pids.map(async (pid) => {
    const words = await readFile(join("/proc", pid, "cmdline"), "utf8").catch(() => "");
    return words === "" ? [] : [`${pid} ${words.replaceAll("\0", " ")}`];
  }));
  return lines.flat();
}
