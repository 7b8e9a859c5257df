// One instance of the test guest through its life: every start and every end, asked for and not.
import { execFile } from "node:child_process";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Driver } from "../../nodeagent/driver.ts";
import { confinementName } from "../../nodeagent/qemu/launch-argv.ts";
import { tapName } from "../../nodeagent/qemu/tap-name.ts";
import { needs, present } from "../support/optional-programs.ts";
import {
  consoleText,
  inGuest,
  needsMachine,
  openMachine,
  qemuPid,
  ready,
  SOON,
  type TestMachine,
  type,
  vmOf,
} from "./machine.ts";

const run = promisify(execFile);
const SECTOR_BYTES = 512;
const GUEST_ADDRESS = "10.0.1.5";

let machine: TestMachine | undefined;
let id: string;
const driver = (): Driver => machine!.driver();

beforeEach(needsMachine);
beforeAll(async () => {
  let lacks = false;
  needsMachine({ skip: (condition?: unknown) => void (lacks ||= condition === true) } as never);
  if (!lacks) machine = await openMachine({ halt_wait_ms: 60_000 });
});
afterAll(() => machine?.remove());

test("a created instance boots, configures itself and accepts the tenant's key by ssh", async (context) => {
  needs(context, "ssh", "ssh-keygen");
  const key = join(machine!.state_dir, "key");
  await run(present("ssh-keygen"), ["-q", "-t", "ed25519", "-N", "", "-f", key]);
  id = await machine!.create({ ssh_public_keys: [(await readFile(`${key}.pub`, "utf8")).trim()] });
  await ready(driver(), id);
  expect(consoleText(driver(), id)).toContain("network from seed");
  // Until the networks exist, the test is the tap's other end.
  const namespace = confinementName(id);
  const { nics } = JSON.parse(await readFile(join(machine!.folders.machine_dir, "vm", id, "vm.json"), "utf8"));
  await run(present("ip"), ["-n", namespace, "addr", "add", "10.0.1.1/24", "dev", tapName(nics[0].mac)]);
  const options = ["BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "ConnectTimeout=20"];
  const ssh = [present("ssh"), ...options.flatMap((option) => ["-o", option]), "-i", key, `root@${GUEST_ADDRESS}`];
  const { stdout } = await run(present("ip"), ["netns", "exec", namespace, ...ssh, "hostname"]);
  expect(stdout.trim()).toBe("web1");
});

test("QEMU has a user of its own, no capabilities, no new privileges, a seccomp filter and an empty network", async () => {
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

test("QEMU's user can read its own disks, and neither another file of the node nor the record", async () => {
  const { folders } = machine!;
  const uid = (await stat(join(folders.machine_dir, "vm", id))).gid;
  const readable = async (path: string) =>
    await run(present("setpriv"), [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", "head", "-c1", path])
      .then(() => true, () => false);
  expect(await readable(join(folders.machine_dir, "vm", id, "seed.img"))).toBe(true);
  expect(await readable(join(folders.machine_dir, "vm", id, "base.qcow2"))).toBe(true);
  expect(await readable(join(folders.machine_dir, "vm", id, "vm.json"))).toBe(false);
  expect(await readable(join(folders.machine_dir, "images"))).toBe(false);
  // The folder of the sockets is root's once QEMU runs.
  expect((await stat(join(folders.run_dir, "vm", id))).uid).toBe(0);
});

test("a running guest sees its grown disk at once", async () => {
  const [disk] = driver().vms.disksOf(id);
  const size_bytes = 256 * 2 ** 20;
  await driver().vms.resize(id, { id: disk!.id, size_bytes });
  expect(await inGuest(driver(), id, "cat /sys/block/vda/size")).toBe(String(size_bytes / SECTOR_BYTES));
});

test("a restarted agent finds the running guest, which did not notice", async () => {
  const boot = await inGuest(driver(), id, "cat /proc/sys/kernel/random/boot_id");
  const pid = await qemuPid(id);
  await machine!.restart();
  expect(await vmOf(driver(), id)).toMatchObject({ state: "running" });
  expect(await inGuest(driver(), id, "cat /proc/sys/kernel/random/boot_id")).toBe(boot);
  expect(await qemuPid(id)).toBe(pid);
});

test("a stop presses the power button, and a start boots the same disk", async () => {
  await inGuest(driver(), id, "echo kept > /persist/note; sync");
  const text: string[] = [];
  driver().console(id)!.subscribe((bytes) => void text.push(new TextDecoder().decode(bytes)));
  await driver().vms.halt(id);
  expect(text.join("")).toContain("guest: power button");
  expect(await vmOf(driver(), id)).toMatchObject({ state: "stopped", reason: null });
  expect(driver().console(id)).toBeUndefined();
  await driver().vms.boot(id);
  await ready(driver(), id);
  expect(await inGuest(driver(), id, "cat /persist/note; cat /sys/block/vda/size")).toBe(
    `kept\r\n${256 * 2 ** 20 / SECTOR_BYTES}`,
  );
});

test("a guest that turns itself off is stopped, not failed", async () => {
  type(driver(), id, "poweroff -f\n");
  await expect.poll(() => vmOf(driver(), id), SOON).toMatchObject({ state: "stopped", reason: null });
  await expect(qemuPid(id)).rejects.toThrow("has no process");
});

test("a panic of the guest's kernel is a failure with its reason, and a start recovers from it", async () => {
  await driver().vms.boot(id);
  await ready(driver(), id);
  type(driver(), id, "echo c > /proc/sysrq-trigger\n");
  await expect.poll(() => vmOf(driver(), id), SOON).toMatchObject({
    state: "failed",
    reason: "the guest's kernel panicked; see the console's last output",
  });
  await expect(qemuPid(id)).rejects.toThrow("has no process");
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

test("an end that no agent saw is found when the agent starts", async () => {
  await driver().vms.boot(id);
  machine!.leave();
  process.kill(await qemuPid(id), "SIGKILL");
  await machine!.restart();
  expect(await vmOf(driver(), id)).toMatchObject({
    state: "failed",
    reason: "the virtual machine's process ended unexpectedly",
  });
});

test("after a boot of the node, the VMs that ran run again, and the others do not", async () => {
  const other = await machine!.create();
  await driver().vms.boot(id);
  machine!.leave();
  for (const each of [id, other]) process.kill(await qemuPid(each), "SIGKILL");
  await machine!.restart();
  expect(await vmOf(driver(), other)).toMatchObject({ state: "failed" });
  await driver().vms.boot(id);
  machine!.leave();
  process.kill(await qemuPid(id), "SIGKILL");
  await machine!.restart({ boot_id: "another boot" });
  await expect.poll(() => vmOf(driver(), id), SOON).toMatchObject({ state: "running" });
  expect(await qemuPid(id)).toBeGreaterThan(0);
  expect(await vmOf(driver(), other)).toMatchObject({ state: "failed" });
  await driver().vms.destroy(other);
});

test("a guest that ignores the power button is ended after the time limit", async () => {
  await machine!.restart({ halt_wait_ms: 1_500 });
  await driver().vms.halt(id);
  await driver().vms.boot(id);
  await ready(driver(), id);
  await inGuest(driver(), id, "killall acpid; rmmod button; echo done");
  const begun_ms = performance.now();
  await driver().vms.halt(id);
  expect(performance.now() - begun_ms).toBeGreaterThan(1_400);
  expect(await vmOf(driver(), id)).toMatchObject({ state: "stopped" });
});

test("an agent that ended in the middle of a stop finishes it after its restart", async () => {
  await driver().vms.boot(id);
  const record = join(machine!.folders.machine_dir, "vm", id, "vm.json");
  machine!.leave();
  await writeFile(record, (await readFile(record, "utf8")).replace('"power": "on"', '"power": "stopping"'));
  await machine!.restart({ halt_wait_ms: 500 });
  await expect.poll(() => vmOf(driver(), id), SOON).toMatchObject({ state: "stopped" });
});

test("a deleted instance leaves no process, namespace, socket or file", async () => {
  await driver().vms.boot(id);
  await driver().vms.destroy(id);
  expect(await machine!.left()).toEqual([]);
  expect(machine!.log.filter((line) => /does not end|Error/.test(line))).toEqual([]);
});
