// Runs one instance of the test guest through every kind of start and every kind of end, whether requested or not.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { Driver } from "../../nodeagent/driver.ts";
import { placesOf } from "../../nodeagent/qemu/folders.ts";
import { guestAgentAt } from "../../nodeagent/qemu/guest-agent.ts";
import { confinementName } from "../../nodeagent/qemu/launch-argv.ts";
import { tapName } from "../../nodeagent/qemu/tap-name.ts";
import type { GuestInterface } from "../../src/contract/instance.ts";
import { needs, present } from "../support/optional-programs.ts";
import {
  BOOT,
  consoleText,
  inGuest,
  openMachine,
  qemuPid,
  ready,
  SOON,
  type TestMachine,
  type,
  vmOf,
  withMachine,
} from "./machine.ts";

/** A signal that is never aborted. */
const { signal } = new AbortController();

const run = promisify(execFile);
const SECTOR_BYTES = 512;
const GUEST_ADDRESS = "10.0.1.5";

let machine: TestMachine;
let id: string;
const driver = (): Driver => machine.driver();

withMachine(async () => {
  machine = await openMachine({ halt_wait_ms: 60_000 });
  return machine.remove;
});

test("a created instance boots, configures itself and accepts the tenant's key by ssh", async (context) => {
  needs(context, "ssh", "ssh-keygen");
  const key = join(machine.state_dir, "key");
  await run(present("ssh-keygen"), ["-q", "-t", "ed25519", "-N", "", "-f", key]);
  id = await machine.create({ ssh_public_keys: [(await readFile(`${key}.pub`, "utf8")).trim()] });
  await ready(driver(), id);
  expect(consoleText(driver(), id)).toContain("network from seed");
  // The driver of this test builds no routers, so the test itself gives the tap the router's address.
  const namespace = confinementName(id);
  const { nics } = JSON.parse(await readFile(join(machine.folders.machine_dir, "vm", id, "vm.json"), "utf8"));
  await run(present("ip"), ["-n", namespace, "addr", "add", "10.0.1.1/24", "dev", tapName(nics[0].mac)]);
  const options = ["BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "ConnectTimeout=20"];
  const ssh = [present("ssh"), ...options.flatMap((option) => ["-o", option]), "-i", key, `root@${GUEST_ADDRESS}`];
  const { stdout } = await run(present("ip"), ["netns", "exec", namespace, ...ssh, "hostname"]);
  expect(stdout.trim()).toBe("web1");
});

test("QEMU has its own user, no capabilities, no_new_privs, a seccomp filter and a network with only its tap", async () => {
  const status = await readFile(`/proc/${await qemuPid(id)}/status`, "utf8");
  const field = (name: string) => new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`, "m").exec(status)![1];
  expect(Number(field("Uid")!.split("\t")[0])).toBeGreaterThanOrEqual(200_000);
  expect([field("CapEff"), field("CapBnd"), field("NoNewPrivs"), field("Seccomp"), field("Groups")]).toEqual([
    "0000000000000000",
    "0000000000000000",
    "1",
    "2",
    "",
  ]);
  const { stdout } = await run(present("ip"), ["-n", confinementName(id), "-brief", "link"]);
  expect(stdout.trim().split("\n").map((line) => line.split(/[ @]/)[0]).sort()).toEqual([
    "lo",
    expect.stringMatching(/^t0200/),
  ]);
});

test("QEMU's user can read the VM's disks, but neither the VM's record nor the folder of images", async () => {
  const { folders } = machine;
  const uid = (await stat(join(folders.machine_dir, "vm", id))).gid;
  const readable = async (path: string) =>
    await run(present("setpriv"), [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", "head", "-c1", path])
      .then(() => true, () => false);
  expect(await readable(join(folders.machine_dir, "vm", id, "seed.img"))).toBe(true);
  expect(await readable(join(folders.machine_dir, "vm", id, "base.qcow2"))).toBe(true);
  expect(await readable(join(folders.machine_dir, "vm", id, "vm.json"))).toBe(false);
  expect(await readable(join(folders.machine_dir, "images"))).toBe(false);
  // When QEMU runs, its folder of sockets belongs to root.
  expect((await stat(join(folders.run_dir, "vm", id))).uid).toBe(0);
});

test("a running guest sees its grown disk at once", async () => {
  const [disk] = driver().vms.disksOf(id);
  const size_bytes = 256 * 2 ** 20;
  await driver().vms.resize(id, { id: disk!.id, size_bytes });
  expect(await inGuest(driver(), id, "cat /sys/block/vda/size")).toBe(String(size_bytes / SECTOR_BYTES));
});

test("a restarted agent finds the guest, which ran without interruption", async () => {
  const boot = await inGuest(driver(), id, "cat /proc/sys/kernel/random/boot_id");
  const pid = await qemuPid(id);
  await machine.restart();
  expect(await vmOf(driver(), id)).toMatchObject({ state: "running" });
  expect(await inGuest(driver(), id, "cat /proc/sys/kernel/random/boot_id")).toBe(boot);
  expect(await qemuPid(id)).toBe(pid);
});

test("the guest agent reports addresses, freezes and thaws the file systems, and answers again after a restart of the driver", async () => {
  const guest = guestAgentAt(placesOf(machine.folders, id).socket("qga"));
  await expect.poll(() => guest.interfaces().catch(() => []), SOON).toEqual([
    { mac: expect.stringMatching(/^02:00:/), addresses: [GUEST_ADDRESS] },
  ]);
  // The status has the same addresses after the next reading of the counters.
  await expect.poll(async () => {
    await driver().metrics();
    const { vms } = await driver().status() as { vms: Record<string, { guest_interfaces: GuestInterface[] | null }> };
    return vms[id]!.guest_interfaces?.[0]?.addresses;
  }, BOOT).toEqual([GUEST_ADDRESS]);
  // /persist is the guest's only writable file system on a disk.
  expect(await guest.freeze()).toBe(1);
  type(driver(), id, "echo frozen > /persist/frozen && echo written\n");
  // A frozen file system makes the writer wait. The guest agent answers, and refuses the request.
  expect(await guest.interfaces().catch((error) => error.message)).toContain("refused");
  expect(consoleText(driver(), id)).not.toContain("\nwritten");
  expect(await guest.thaw()).toBe(1);
  await expect.poll(() => consoleText(driver(), id), SOON).toContain("\nwritten");
  await machine.restart({ halt_wait_ms: 60_000 });
  expect(await guestAgentAt(placesOf(machine.folders, id).socket("qga")).interfaces()).toHaveLength(1);
});

test("a snapshot of a running guest has the data that the guest wrote before the snapshot, and nothing later", async () => {
  const places = placesOf(machine.folders, id);
  const [boot] = driver().vms.disksOf(id);
  const snapshot = { id: randomUUID(), name: "before", size_bytes: boot!.size_bytes };
  await inGuest(driver(), id, "echo early-note > /persist/early");
  // Freezes the file systems before the snapshot, as if an earlier agent had ended between its freeze and its thaw.
  expect(await guestAgentAt(places.socket("qga")).freeze()).toBe(1);
  expect(await driver().vms.createSnapshot(id, snapshot, { source_disk_id: boot!.id, signal })).toBe("frozen");
  await inGuest(driver(), id, "echo later-note > /persist/later; sync");
  const raw = join(machine.folders.machine_dir, "snapshot.raw");
  await run(present("qemu-img"), ["convert", "-f", "qcow2", "-O", "raw", places.disk(snapshot.id), raw]);
  const content = await readFile(raw);
  const found = (text: string) => content.includes(text);
  expect([found("early-note"), found("later-note")]).toEqual([true, false]);
  await driver().vms.deleteSnapshot(id, snapshot.id);
  expect(driver().vms.disksOf(id)).toEqual([boot]);
});

test("a withdrawn snapshot of a running guest fails, and its removal leaves nothing", async () => {
  const places = placesOf(machine.folders, id);
  const before = await readdir(places.folder);
  const [boot] = driver().vms.disksOf(id);
  const snapshot = { id: randomUUID(), name: "withdrawn", size_bytes: boot!.size_bytes };
  const copy = { source_disk_id: boot!.id, signal: AbortSignal.abort(new Error("withdrawn")) };
  await expect(driver().vms.createSnapshot(id, snapshot, copy)).rejects.toThrow();
  await driver().vms.deleteSnapshot(id, snapshot.id);
  expect(await readdir(places.folder)).toEqual(before);
  expect(driver().vms.disksOf(id)).toEqual([boot]);
});

test("the guest agent turns a guest off", async () => {
  await guestAgentAt(placesOf(machine.folders, id).socket("qga")).shutdown();
  await expect.poll(() => vmOf(driver(), id), SOON).toMatchObject({ state: "stopped", reason: null });
  expect(consoleText(driver(), id)).toContain("guest: shutdown -h -P");
  await driver().vms.boot(id);
  await ready(driver(), id);
});

test("a stop presses the power button, and a start boots the same disk", async () => {
  await inGuest(driver(), id, "echo kept > /persist/note; sync");
  const text: string[] = [];
  driver().console(id)!.subscribe((bytes) => void text.push(new TextDecoder().decode(bytes)));
  await driver().vms.halt(id);
  expect(text.join("")).toContain("guest: power button");
  expect(await vmOf(driver(), id)).toMatchObject({ state: "stopped", reason: null });
  // The log stays readable until the next start.
  expect(consoleText(driver(), id)).toContain("guest: power button");
  await driver().vms.boot(id);
  await ready(driver(), id);
  expect(await inGuest(driver(), id, "cat /persist/note; cat /sys/block/vda/size")).toBe(
    `kept\r\n${256 * 2 ** 20 / SECTOR_BYTES}`,
  );
});

test("a guest that turns itself off is stopped, not failed", async () => {
  type(driver(), id, "poweroff -f\n");
  await expect.poll(() => vmOf(driver(), id), SOON).toMatchObject({ state: "stopped", reason: null });
  await ended(id);
});

test("a panic of the guest's kernel is a failure with its reason, and a start recovers from the failure", async () => {
  await driver().vms.boot(id);
  await ready(driver(), id);
  type(driver(), id, "echo c > /proc/sysrq-trigger\n");
  await expect.poll(() => vmOf(driver(), id), SOON).toMatchObject({
    state: "failed",
    reason: "the guest's kernel panicked; see the console's last output",
  });
  // The console shows the reason only after the driver has recorded the end of the run on the disk.
  await expect.poll(() => consoleText(driver(), id), SOON).toMatch(
    /Kernel panic[^]*\[berth: the guest's kernel panicked/,
  );
  await ended(id);
  await driver().vms.boot(id);
  expect(await vmOf(driver(), id)).toMatchObject({ state: "running", reason: null });
});

test("a crash of QEMU is a failure with its signal", async () => {
  process.kill(await qemuPid(id), "SIGSEGV");
  await expect.poll(() => vmOf(driver(), id), SOON).toMatchObject({
    state: "failed",
    reason: expect.stringMatching(/^the virtual machine's process crashed on its node \(signal SIGSEGV\)/),
  });
});

/** Waits until the QEMU process of a VM has ended. */
async function ended(vm: string): Promise<void> {
  await expect.poll(() => qemuPid(vm).catch(() => null), SOON).toBeNull();
}

/** Kills the QEMU process of a VM, and waits until the process has ended, because `kill` does not wait. */
async function crash(vm: string): Promise<void> {
  process.kill(await qemuPid(vm), "SIGKILL");
  await ended(vm);
}

test("the agent finds at its start that a guest ended while no agent ran", async () => {
  await driver().vms.boot(id);
  machine.leave();
  await crash(id);
  await machine.restart();
  expect(await vmOf(driver(), id)).toMatchObject({
    state: "failed",
    reason: "the virtual machine's process ended unexpectedly",
  });
});

test("after a boot of the node, only the VMs that ran before run again", async () => {
  const other = await machine.create();
  await driver().vms.boot(id);
  machine.leave();
  for (const each of [id, other]) await crash(each);
  await machine.restart();
  expect(await vmOf(driver(), other)).toMatchObject({ state: "failed" });
  await driver().vms.boot(id);
  machine.leave();
  await crash(id);
  await machine.restart({ boot_id: "another boot" });
  await expect.poll(() => vmOf(driver(), id), SOON).toMatchObject({ state: "running" });
  expect(await qemuPid(id)).toBeGreaterThan(0);
  expect(await vmOf(driver(), other)).toMatchObject({ state: "failed" });
  await driver().vms.destroy(other);
});

test("a guest that ignores the power button is killed after the time limit", async () => {
  await machine.restart({ halt_wait_ms: 1_500 });
  await driver().vms.halt(id);
  await driver().vms.boot(id);
  await ready(driver(), id);
  await inGuest(driver(), id, "killall acpid; rmmod button; echo done");
  const begun_ms = performance.now();
  await driver().vms.halt(id);
  expect(performance.now() - begun_ms).toBeGreaterThan(1_400);
  expect(await vmOf(driver(), id)).toMatchObject({ state: "stopped" });
  expect(consoleText(driver(), id)).toContain("[berth: the guest ignored the power button and was turned off]");
});

test("an agent that ended in the middle of a stop finishes the stop after its restart", async () => {
  await driver().vms.boot(id);
  const record = join(machine.folders.machine_dir, "vm", id, "vm.json");
  machine.leave();
  await writeFile(record, (await readFile(record, "utf8")).replace('"power": "on"', '"power": "stopping"'));
  await machine.restart({ halt_wait_ms: 500 });
  await expect.poll(() => vmOf(driver(), id), SOON).toMatchObject({ state: "stopped" });
});

test("a start keeps a QEMU that does not answer, and the guest continues", async () => {
  await driver().vms.boot(id);
  const pid = await qemuPid(id);
  // A stopped process answers as little as a QEMU that waits for slow storage.
  process.kill(pid, "SIGSTOP");
  const started = driver().vms.boot(id);
  await expect.poll(() => machine.log, { timeout: 60_000 }).toContain(
    `VM ${id}: its QEMU does not answer; retrying`,
  );
  process.kill(pid, "SIGCONT");
  await started;
  expect(await qemuPid(id)).toBe(pid);
  expect(await vmOf(driver(), id)).toMatchObject({ state: "running" });
});

test("a deleted instance leaves no process, namespace, socket or file", async () => {
  await driver().vms.boot(id);
  await driver().vms.destroy(id);
  expect(await machine.left()).toEqual([]);
  expect(machine.log.filter((line) => /does not end|Error/.test(line))).toEqual([]);
});
