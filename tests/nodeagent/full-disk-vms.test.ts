// Tests the records of VMs on a full disk: a change has no effect while the disk is full, and succeeds once the disk
// has room. The full disk is a small file system in memory, so these tests need root.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { qemuArrivals } from "../../nodeagent/qemu/vm-arrival.ts";
import { openVmStore } from "../../nodeagent/qemu/vm-store.ts";
import { lacking, present } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { openStandInVms, type StandInVms, vmRecord } from "./stand-in-vms.ts";

const run = promisify(execFile);
const lacks = lacking("mount", "umount") ?? (process.getuid?.() === 0 ? null : "a mount needs root");

let folder: TemporaryFolder;
let small: string;
let node: StandInVms;
beforeEach(async ({ skip }) => {
  skip(lacks !== null, lacks ?? "");
  // The folder's name is short, because Linux limits the length of a socket's path.
  folder = await temporaryFolder("vm");
  small = join(folder.path, "lib");
  await mkdir(small);
  await run(present("mount"), ["-t", "tmpfs", "-o", "size=64k", "tmpfs", small]);
  node = await openStandInVms(folder.path);
});
afterEach(async () => {
  if (lacks !== null) return;
  await node.close();
  await run(present("umount"), [small]);
  await folder.remove();
});

const fill = () => writeFile(join(small, "fill"), new Uint8Array(65_536)).catch(() => {});
const free = () => rm(join(small, "fill"));
/** Returns the VM's record as an agent reads it from the disk when it starts. */
const onDisk = async (id: string) => (await openVmStore(node.folders, () => {})).get(id);
/** The record of a VM that arrives by this migration. */
const arriving = (migration_id: string) => ({
  move: { role: "arriving", migration_id, ticket_sha256: "" } as const,
});

test("a record that cannot be written keeps its old values, and a new record that cannot be written does not exist", async () => {
  const { store } = node;
  const id = await node.add({ cpu: 1 });
  await fill();
  await expect(store.change(id, { cpu: 2 })).rejects.toThrow("ENOSPC");
  expect(store.get(id)?.cpu).toBe(1);
  const other = randomUUID();
  await expect(store.put(vmRecord(other, store.freeUid()))).rejects.toThrow("ENOSPC");
  expect(store.get(other)).toBeUndefined();
  await free();
  await store.change(id, { cpu: 2 });
  expect([store.get(id)?.cpu, (await onDisk(id))?.cpu]).toEqual([2, 2]);
});

test.each([false, true])("a VM that arrived (live: %s) becomes this node's VM when the disk has room", async (live) => {
  const { activate } = qemuArrivals(node);
  const migration_id = randomUUID();
  const id = await node.add(arriving(migration_id));
  const moving = { instance_id: id, migration_id, live };
  node.startProcess(id);
  const { commands } = await node.openMonitor(id, () => ({ return: { status: "completed" } }));
  await fill();
  await expect(activate(moving)).rejects.toThrow("ENOSPC");
  expect(commands.map(({ execute }) => execute)).not.toContain("cont");
  await free();
  await activate(moving);
  expect(await onDisk(id)).toMatchObject({ move: null, power: live ? "on" : "off" });
  expect(commands.some(({ execute }) => execute === "cont"), "the guest runs").toBe(live);
});

test(
  "a guest that turns itself off while the disk is full is recorded as off when the disk has room",
  { timeout: 30_000 },
  async () => {
    const { store, power } = node;
    const id = await node.add({ power: "on" });
    node.startProcess(id);
    const qemu = await node.openMonitor(id, () => ({ return: { status: "running" } }));
    await power.attach(store.get(id)!);
    await fill();
    qemu.send({ event: "SHUTDOWN", data: { guest: true, reason: "guest-shutdown" } });
    await expect.poll(() => node.log).toEqual([expect.stringContaining("ENOSPC")]);
    expect(store.get(id)?.power, "the record still has the old power").toBe("on");
    await free();
    await expect.poll(() => store.get(id)?.power, { timeout: 15_000 }).toBe("off");
    // The record in memory changes before the record on disk.
    await expect.poll(async () => (await onDisk(id))?.end).toEqual({ state: "stopped", reason: null });
  },
);
