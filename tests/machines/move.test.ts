// Moves a guest between two QEMU drivers in one process, over real TLS connections. The guest has no network.
// migration.test.ts tests the same with agents and a server.
import { randomUUID } from "node:crypto";
import { chown, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Driver, VmPlan } from "../../nodeagent/driver.ts";
import { linkTo } from "../../nodeagent/migration/link.ts";
import { createListener, sha256Hex } from "../../nodeagent/migration/listener.ts";
import type { MoveLink, Moving } from "../../nodeagent/migration/migrations.ts";
import { processesOf } from "../../nodeagent/qemu/processes.ts";
import { SANDBOX_UID } from "../../nodeagent/qemu/unprivileged.ts";
import { needs } from "../support/optional-programs.ts";
import {
  BOOT,
  consoleText,
  inGuest,
  needsMachine,
  openMachine,
  ready,
  SOON,
  type TestMachine,
  type,
  vmOf,
} from "./machine.ts";
import { type DataDisk, dataDisk, deviceOf, fill, reads, writes } from "./moving-disk.ts";
import { olderQemu } from "./older-qemu.ts";

const TICKET = "ticket";
const MIB = 2 ** 20;
/** Longer than the source needs to react to a late answer. */
const ACTS_LATE_MS = 2_000;

let source: TestMachine;
let target: TestMachine;
let stop: AbortController;
let refused: unknown[];

beforeEach(async (context) => {
  needsMachine(context);
  needs(context, "openssl");
  stop = new AbortController();
  refused = [];
  source = await openMachine();
  target = await openMachine();
  // The QEMU processes of both drivers run on this machine, so they need different users. A driver does not choose a
  // user whose id is the group of a VM's folder. So the folder `taken` makes the target choose the next user.
  const taken = join(target.folders.machine_dir, "vm/taken");
  await mkdir(taken);
  await chown(taken, 0, SANDBOX_UID + 1);
  await target.restart();
});
afterEach(async () => {
  stop?.abort();
  await source?.remove();
  await target?.remove();
});

async function connected(moving: Moving): Promise<MoveLink> {
  const listener = createListener({
    state_dir: target.state_dir,
    address: "127.0.0.1",
    port: 0,
    migrations: target.driver().migrations,
    signal: stop.signal,
    log: (line) => void refused.push(line),
  });
  return linkTo(await listener.start(), moving, TICKET);
}

const options = (isWanted: () => Promise<void> = () => Promise.resolve()) => ({
  bandwidth_bytes_per_s: 256 * MIB,
  signal: stop.signal,
  onProgress: () => {},
  isWanted,
});

/** Creates a running guest on the source, and its empty copy on the target. The guest has the data disks. */
async function prepared(live: boolean, data_disks: readonly DataDisk[] = []) {
  const plan: VmPlan = { ...await source.plan({ nics: [] }) };
  const { id } = plan.instance;
  const { vms } = source.driver();
  await vms.createDisks(plan);
  await vms.createNics(plan);
  await vms.create(plan);
  await vms.boot(id);
  await ready(source.driver(), id);
  await inGuest(source.driver(), id, "echo kept > /persist/mark; echo kept > /run/mark; sync");
  for (const disk of data_disks) await fill(source.driver(), id, disk);
  for (const { id: disk_id, fate } of data_disks) {
    if (fate === "detached") await vms.detachDisk(id, disk_id);
    if (fate === "deleted") await vms.deleteDisk(id, disk_id);
  }
  const { image_path } = await target.plan();
  const left = data_disks.filter(({ fate }) => fate !== "deleted").map(({ fate, ...disk }) => ({
    ...plan.disks[0]!,
    ...disk,
    kind: "data" as const,
    attached: fate === "attached",
  }));
  const disks = [...plan.disks, ...left];
  const moving = { instance_id: id, migration_id: randomUUID(), live };
  await target.driver().migrations.receive({ ...plan, disks, image_path }, moving, sha256Hex(TICKET));
  return { id, moving, link: await connected(moving) };
}

/** Returns the machine type of the VM's QEMU process. */
async function machineTypeOf({ driver, folders }: TestMachine, id: string): Promise<string | undefined> {
  expect(await stateOn(driver(), id)).toBe("running");
  const uid = JSON.parse(await readFile(join(folders.machine_dir, "vm", id, "vm.json"), "utf8")).uid as number;
  const [pid] = await processesOf({ id, uid });
  const words = (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0");
  return words[words.indexOf("-machine") + 1]?.split(",")[0];
}

const stateOn = async (driver: Driver, id: string) => (await vmOf(driver, id))?.state;

test("a machine does not move if its boot disk is of another image than the target expects", async () => {
  const { id, moving, link } = await prepared(false);
  const { vms } = source.driver();
  await vms.halt(id);
  const { image_path } = await source.plan();
  await vms.rebuild(id, { ...vms.disksOf(id)[0]!, image_sha256: "cd".repeat(32), image_path });
  await expect(source.driver().migrations.send(moving, link, options())).rejects.toThrow("is of another image");
  expect(await stateOn(source.driver(), id)).toBe("stopped");
  await vms.boot(id);
});

test("a running guest moves with its memory and its disk", async () => {
  const { id, moving, link } = await prepared(true);
  const boot = await inGuest(source.driver(), id, "cat /proc/sys/kernel/random/boot_id");
  const result = await source.driver().migrations.send(moving, link, options());
  expect(result).toEqual({ sent_bytes: expect.any(Number) });
  expect(await stateOn(source.driver(), id)).toBe("migrating");
  // After a restart, the source's agent refuses to start the VM.
  await source.restart();
  await expect(source.driver().vms.boot(id)).rejects.toThrow("is moving to another node");
  const { downtime_ms } = await target.driver().migrations.activate(moving) as { downtime_ms: number };
  expect(downtime_ms).toBeGreaterThan(0);
  await source.driver().migrations.clean(moving);
  expect(await inGuest(target.driver(), id, "cat /run/mark /persist/mark /proc/sys/kernel/random/boot_id")).toBe(
    `kept\r\nkept\r\n${boot}`,
  );
  expect([await stateOn(source.driver(), id), await stateOn(target.driver(), id)]).toEqual([undefined, "running"]);
});

test("an emulated guest is paused before its memory is sent, and continues after a refusal", async () => {
  const { id, moving, link } = await prepared(true);
  await source.restart({ accelerator: "tcg" });
  const requests: string[] = [];
  const seen: MoveLink = {
    ...link,
    ask: (request, limit_ms) => {
      requests.push(request.request);
      return link.ask(request, limit_ms);
    },
    open: (request) => {
      requests.push(request.request);
      return link.open(request);
    },
  };
  let asked = 0;
  const isWanted = () => ++asked === 2 ? Promise.reject(new Error("not wanted")) : Promise.resolve();
  await expect(source.driver().migrations.send(moving, seen, options(isWanted))).rejects.toThrow("not wanted");
  expect(requests).toEqual(["prepare", "disks", "paused", "memory"]);
  expect(await inGuest(source.driver(), id, "cat /run/mark")).toBe("kept");
});

test("a guest continues even if the abandoned target answers late that the guest may be paused", async () => {
  const { id, moving, link } = await prepared(true);
  await source.restart({ accelerator: "tcg" });
  let isSilent = false;
  const late = Promise.withResolvers<void>();
  const silent: MoveLink = {
    ...link,
    ask: async (request, limit_ms) => {
      if (request.request === "paused") {
        isSilent = true;
        await late.promise;
      }
      return await link.ask(request, limit_ms);
    },
    answers: async (limit_ms) => !isSilent && await link.answers(limit_ms),
  };
  await expect(source.driver().migrations.send(moving, silent, options())).rejects.toThrow("has not answered for 20 s");
  late.resolve();
  await sleep(ACTS_LATE_MS);
  expect(await inGuest(source.driver(), id, "cat /run/mark")).toBe("kept");
});

test("a guest moves from an older QEMU to a newer QEMU, and starts again with its old hardware", async () => {
  await source.restart({ program: await olderQemu(source.state_dir) });
  const { id, moving, link } = await prepared(true);
  await source.driver().migrations.send(moving, link, options());
  await target.driver().migrations.activate(moving);
  await source.driver().migrations.clean(moving);
  expect(await inGuest(target.driver(), id, "cat /run/mark")).toBe("kept");
  expect(await machineTypeOf(target, id)).toBe("pc-q35-7.1");
  await target.driver().vms.halt(id);
  await target.driver().vms.boot(id);
  expect(await machineTypeOf(target, id)).toBe("pc-q35-7.1");
});

test("a target whose QEMU lacks the guest's machine type refuses the guest before anything is copied", async () => {
  await target.restart({ program: await olderQemu(target.state_dir) });
  const { id, moving, link } = await prepared(true);
  expect(await machineTypeOf(source, id)).toBe("pc-q35-7.2");
  const open = () => Promise.reject(new Error("the source sent bytes"));
  await expect(source.driver().migrations.send(moving, { ...link, open }, options())).rejects.toThrow(
    "the target refused: this node's QEMU lacks the machine type pc-q35-7.2",
  );
  expect(await inGuest(source.driver(), id, "cat /run/mark")).toBe("kept");
});

test("a guest continues if its migration is refused while the guest is paused, and can be migrated later", async () => {
  const { id, moving, link } = await prepared(true);
  let asked = 0;
  // The driver calls isWanted the second time while the guest is paused.
  const isWanted = () => ++asked === 2 ? Promise.reject(new Error("not wanted")) : Promise.resolve();
  await expect(source.driver().migrations.send(moving, link, options(isWanted))).rejects.toThrow("not wanted");
  expect(await inGuest(source.driver(), id, "cat /run/mark")).toBe("kept");
  await source.driver().migrations.send(moving, link, options());
  // Keeps the VM on the source, as the control plane orders after a refused migration.
  await source.driver().migrations.resume(moving);
  expect(await inGuest(source.driver(), id, "cat /run/mark /persist/mark")).toBe("kept\r\nkept");
  await target.driver().migrations.discard(moving);
  expect(await stateOn(target.driver(), id)).toBe(undefined);
});

test("a guest that turns itself off during its migration is stopped on the source node", async () => {
  const { id, moving, link } = await prepared(true);
  const slow: MoveLink = {
    ...link,
    ask: async (request, limit_ms) => {
      const answer = await link.ask(request, limit_ms);
      if (request.request === "prepare") {
        type(source.driver(), id, "poweroff -f\n");
        await expect.poll(() => consoleText(source.driver(), id), BOOT).toContain("Power down");
      }
      return answer;
    },
  };
  await expect(source.driver().migrations.send(moving, slow, options())).rejects.toThrow("turned itself off");
  await expect.poll(() => vmOf(source.driver(), id), SOON).toMatchObject({ state: "stopped", reason: null });
  // Undoes the migration, as the control plane orders.
  await source.driver().migrations.resume(moving);
  expect(await stateOn(source.driver(), id)).toBe("stopped");
  await target.driver().migrations.discard(moving);
  await source.driver().vms.boot(id);
  await ready(source.driver(), id);
});

test("a stopped guest moves with its disk", async () => {
  const { id, moving, link } = await prepared(false);
  await source.driver().vms.halt(id);
  const result = await source.driver().migrations.send(moving, link, options()) as { sent_bytes: number };
  expect(result.sent_bytes).toBeGreaterThan(MIB / 8);
  await target.driver().migrations.activate(moving);
  await source.driver().migrations.clean(moving);
  expect(await stateOn(target.driver(), id)).toBe("stopped");
  await target.driver().vms.boot(id);
  await ready(target.driver(), id);
  expect(await inGuest(target.driver(), id, "cat /persist/mark")).toBe("kept");
  expect(await machineTypeOf(target, id)).toBe("pc-q35-7.2");
  expect(refused).toEqual([]);
});

test("a running guest moves with its data disks, including a detached disk", async () => {
  // The deleted disk leaves the SCSI number 0 free. The next disk keeps the number 1.
  const [attached, detached] = [dataDisk("attached"), dataDisk("detached")];
  const { id, moving, link } = await prepared(true, [dataDisk("deleted"), attached, detached]);
  await source.driver().migrations.send(moving, link, options());
  expect(await target.driver().migrations.activate(moving)).toEqual({ downtime_ms: expect.any(Number) });
  await source.driver().migrations.clean(moving);
  await target.driver().vms.attachDisk(id, detached.id);
  await expect.poll(() => inGuest(target.driver(), id, `echo ${deviceOf(detached)}`), BOOT).toMatch(/^sd[a-z]$/);
  expect(await inGuest(target.driver(), id, reads(attached))).toBe("attached\r\nattached");
  expect(await inGuest(target.driver(), id, reads(detached))).toBe("detached\r\ndetached");
  await inGuest(target.driver(), id, writes(attached, "written"));
  expect(await inGuest(target.driver(), id, reads(attached))).toBe("written\r\nwritten");
});

test("a stopped guest moves with its data disks", async () => {
  const [attached, detached] = [dataDisk("attached"), dataDisk("detached")];
  const { id, moving, link } = await prepared(false, [attached, detached]);
  await source.driver().vms.halt(id);
  await source.driver().migrations.send(moving, link, options());
  await target.driver().migrations.activate(moving);
  await source.driver().migrations.clean(moving);
  await target.driver().vms.boot(id);
  await ready(target.driver(), id);
  await target.driver().vms.attachDisk(id, detached.id);
  await expect.poll(() => inGuest(target.driver(), id, `echo ${deviceOf(detached)}`), BOOT).toMatch(/^sd[a-z]$/);
  expect(await inGuest(target.driver(), id, reads(attached))).toBe("attached\r\nattached");
  expect(await inGuest(target.driver(), id, reads(detached))).toBe("detached\r\ndetached");
  expect(refused).toEqual([]);
});
