// Tests the agent while a VM's QEMU runs but does not answer, for example because the node's storage is slow. A change
// of a disk is refused and changes nothing; the undo of the refused change succeeds. A start waits, because the guest
// may already run.
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { beforeEach, expect, test } from "vitest";
import { placesOf } from "../../nodeagent/qemu/folders.ts";
import { killProcesses, processesOf } from "../../nodeagent/qemu/processes.ts";
import type { VmDisk, VmRecord } from "../../nodeagent/qemu/vm-record.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { openStandInVms, type StandInVms } from "./stand-in-vms.ts";

const SILENT = "the machine's process on its node does not answer now; try again";
const disk = (kind: string, fields: Partial<VmDisk> = {}): VmDisk => ({
  id: randomUUID(),
  name: kind,
  kind,
  size_bytes: 2 ** 20,
  image_sha256: null,
  ...fields,
});

let folder: TemporaryFolder;
let node: StandInVms;
beforeEach(async () => {
  // The folder's name is short, because Linux limits the length of a socket's path.
  folder = await temporaryFolder("vm");
  node = await openStandInVms(folder.path);
  return async () => {
    await node.close();
    await folder.remove();
  };
});

const [boot, attached, detached] = [disk("boot"), disk("data", { attached: true }), disk("data", { attached: false })];
const fileOf = (id: string, { id: disk_id }: VmDisk) => placesOf(node.folders, id).disk(disk_id);

/** Adds a running VM with three disks, whose files have the text `data`. QEMU opens the file of the disk `open`. */
async function running(open?: VmDisk): Promise<VmRecord> {
  const id = await node.add({ power: "on", disks: [boot, attached, detached] });
  for (const each of [boot, attached, detached]) await writeFile(fileOf(id, each), "data");
  node.startProcess(id, open && fileOf(id, open));
  return node.store.get(id)!;
}

const signal = new AbortController().signal;
const snapshot = { id: randomUUID(), name: "monday", size_bytes: 2 ** 20 };
const grown = (id: string) => ({ id, size_bytes: 2 ** 21 });

test.each<[string, (id: string) => Promise<unknown>]>([
  ["an attach", (id) => node.vms.attachDisk(id, detached.id)],
  ["a detach", (id) => node.vms.detachDisk(id, attached.id)],
  ["a deletion of an attached disk", (id) => node.vms.deleteDisk(id, attached.id)],
  ["a growth of the boot disk", (id) => node.vms.resize(id, grown(boot.id))],
  ["a growth of an attached disk", (id) => node.vms.resize(id, grown(attached.id))],
  ["a snapshot", (id) => node.vms.createSnapshot(id, snapshot, { source_disk_id: boot.id, signal })],
])("%s is refused, and changes nothing", async (_what, change) => {
  const vm = await running();
  await expect(change(vm.id)).rejects.toThrow(SILENT);
  expect(node.store.get(vm.id)).toEqual(vm);
  expect(await readFile(fileOf(vm.id, attached), "utf8")).toBe("data");
});

test("the undo of a refused change ends, and a new disk whose attach was refused is removed", async () => {
  const { vms, store } = node;
  const vm = await running();
  await vms.attachDisk(vm.id, attached.id);
  await vms.detachDisk(vm.id, detached.id);
  expect(store.get(vm.id)).toEqual(vm);
  await vms.deleteDisk(vm.id, detached.id);
  expect(vms.disksOf(vm.id).map(({ id }) => id)).toEqual([boot.id, attached.id]);
  await expect(readFile(fileOf(vm.id, detached))).rejects.toThrow("ENOENT");
});

test("a detached disk is deleted only after QEMU has closed the disk's file", async () => {
  const { vms, store } = node;
  const vm = await running(detached);
  await expect(vms.deleteDisk(vm.id, detached.id)).rejects.toThrow(SILENT);
  expect(store.get(vm.id)).toEqual(vm);
  expect(await readFile(fileOf(vm.id, detached), "utf8")).toBe("data");
  await killProcesses(vm, 5_000);
  await vms.deleteDisk(vm.id, detached.id);
  await expect(readFile(fileOf(vm.id, detached))).rejects.toThrow("ENOENT");
});

test("when QEMU answers again, the guest gets the disk, and then the record changes", async () => {
  const { vms, power, store } = node;
  const vm = await running();
  await expect(vms.attachDisk(vm.id, detached.id)).rejects.toThrow(SILENT);
  let recorded: boolean | undefined;
  const { commands } = await node.openMonitor(vm.id, ({ execute }) => {
    const has = store.get(vm.id)!.disks.find(({ id }) => id === detached.id)!;
    if (execute === "device_add") recorded = has.attached;
    if (execute === "query-status") return { return: { status: "running" } };
    return { return: execute === "qom-list" ? [{ name: "data0" }] : [] };
  });
  await power.attach(vm);
  await vms.attachDisk(vm.id, detached.id);
  expect(commands.find(({ execute }) => execute === "device_add")?.arguments).toMatchObject({ serial: detached.id });
  expect(recorded).toBe(false);
  expect(store.get(vm.id)?.disks).toContainEqual({ ...detached, attached: true });
});

test("a disk that is attached to a VM without a process is recorded for the VM's next start", async () => {
  const id = await node.add({ disks: [detached] });
  await node.vms.attachDisk(id, detached.id);
  expect(node.store.get(id)?.disks).toEqual([{ ...detached, attached: true }]);
});

/** Adds a VM with a QEMU that hangs up instead of answering, until `answer` is called with the state of the guest. */
async function silent(power: "starting" | "on") {
  const id = await node.add({ power });
  node.startProcess(id);
  let state: string | null = null;
  const monitor = await node.openMonitor(id, ({ execute }) => {
    if (execute !== "query-status") return { return: {} };
    if (state !== null) return { return: { status: state } };
    monitor.hangUp();
    return null;
  });
  const vm = node.store.get(id)!;
  await expect.poll(() => processesOf(vm)).toHaveLength(1);
  const pids = await processesOf(vm);
  return {
    id,
    vm,
    pids,
    commands: () => monitor.commands.map(({ execute }) => execute),
    answer: (now: string) => state = now,
  };
}

test.each(
  [["starting", "prelaunch"], ["starting", "running"], ["on", "running"]] as const,
)("a start of a VM that is %s waits for its QEMU, and continues when the guest is %s", async (power, state) => {
  const { id, vm, pids, commands, answer } = await silent(power);
  const started = node.vms.boot(id);
  await expect.poll(() => node.log).toEqual([`VM ${id}: its QEMU does not answer; retrying`]);
  expect([await processesOf(vm), node.store.get(id)]).toEqual([pids, vm]);
  answer(state);
  await started;
  expect([await processesOf(vm), node.store.get(id)?.power]).toEqual([pids, "on"]);
  expect(commands()).not.toContain("quit");
  expect(commands().includes("cont")).toBe(state === "prelaunch");
}, 30_000);

test("a start stops waiting for its QEMU when its job is withdrawn, and QEMU still runs", async () => {
  const { id, vm, pids } = await silent("on");
  const withdrawn = new AbortController();
  const started = node.vms.boot(id, withdrawn.signal);
  await expect.poll(() => node.log).toHaveLength(1);
  withdrawn.abort();
  await expect(started).rejects.toThrow();
  expect([await processesOf(vm), node.store.get(id)]).toEqual([pids, vm]);
});

test("after a restart of the agent, an interrupted start waits for its QEMU, but a stop does not wait for the start", async () => {
  const { id, vm, pids } = await silent("starting");
  await node.power.recover();
  await expect.poll(() => node.log).toEqual([`VM ${id}: its QEMU does not answer; retrying`]);
  expect([await processesOf(vm), node.store.get(id)]).toEqual([pids, vm]);
  await node.vms.halt(id);
  expect([await processesOf(vm), node.store.get(id)?.power]).toEqual([[], "off"]);
});
