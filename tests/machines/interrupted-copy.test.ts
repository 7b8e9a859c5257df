// If an agent ends while QEMU copies a disk, QEMU continues the copy. The next agent ends the copy when it connects to
// QEMU. See docs/instances.md, "Snapshots".
import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { chown, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { placesOf, type VmPlaces } from "../../nodeagent/qemu/folders.ts";
import { guestAgentAt } from "../../nodeagent/qemu/guest-agent.ts";
import { connectQmp, type Qmp } from "../../nodeagent/qemu/qmp.ts";
import { present } from "../support/optional-programs.ts";
import { BOOT, inGuest, openMachine, ready, type TestMachine, withMachine } from "./machine.ts";

const MIB = 2 ** 20;
const LIMIT_MS = 30_000;
const run = promisify(execFile);
const { signal } = new AbortController();

let machine: TestMachine;
let id: string;
let places: VmPlaces;
const vms = () => machine.driver().vms;
const data = { id: randomUUID(), name: "data", size_bytes: 256 * MIB };
const snapshotOf = (name: string) => ({ id: randomUUID(), name, size_bytes: data.size_bytes });

withMachine(async () => {
  machine = await openMachine();
  id = await machine.create();
  places = placesOf(machine.folders, id);
  await vms().createDisk(id, data, { source: null, signal });
  await vms().detachDisk(id, data.id);
  // Data that cannot be compressed, so that a copy takes a while.
  const raw = join(machine.folders.machine_dir, "data.raw");
  await writeFile(raw, randomBytes(data.size_bytes));
  const { uid, gid } = await stat(places.disk(data.id));
  await run(present("qemu-img"), ["convert", "-f", "raw", "-O", "qcow2", raw, places.disk(data.id)]);
  await chown(places.disk(data.id), uid, gid);
  await rm(raw);
  await vms().attachDisk(id, data.id);
  return machine.remove;
});

const drafts = async () => (await readdir(places.folder)).filter((name) => name.includes(".copy"));

/** Reads the copies from QEMU. The driver must have disconnected, because QEMU serves one client at a time. */
async function copiesInQemu() {
  const qmp: Qmp = await connectQmp(places.socket("qmp"), { limit_ms: LIMIT_MS });
  try {
    const nodes = await qmp.execute("query-named-block-nodes", { flat: true });
    return {
      jobs: (await qmp.execute("query-jobs")).map((job) => job.id),
      has_draft: nodes.some(({ file }) => file?.includes(".copy")),
    };
  } finally {
    qmp.close();
  }
}

/** Begins a snapshot of the data disk, and disconnects the driver when QEMU has copied the first data. */
async function leaveDuringCopy(snapshot: ReturnType<typeof snapshotOf>): Promise<void> {
  const draft = `${places.disk(snapshot.id)}.copy`;
  const ended = vms().createSnapshot(id, snapshot, { source_disk_id: data.id, signal }).then(
    () => "completed",
    (error) => error.message,
  );
  const copied = async () => (await stat(draft).catch(() => null))?.blocks ?? 0;
  // The tables of an empty disk take less space, so QEMU has also copied data.
  await expect.poll(async () => await copied() * 512 > 4 * MIB, { ...BOOT, interval: 1 }).toBe(true);
  machine.leave();
  expect(await ended).toContain("the monitor closed");
}

test("the next agent ends the copy, removes its file, and thaws the guest; then the same disk can be copied", async () => {
  await ready(machine.driver(), id);
  const snapshot = snapshotOf("interrupted");
  await leaveDuringCopy(snapshot);
  expect(await copiesInQemu()).toEqual({ jobs: [`copy-${snapshot.id}`], has_draft: true });
  expect(await drafts()).toEqual([`disk-${snapshot.id}.qcow2.copy`]);
  // The guest stays frozen, as if the agent had ended before it thawed the guest. /persist is the guest's only writable
  // file system.
  expect(await guestAgentAt(places.socket("qga")).freeze()).toBe(1);

  await machine.restart();
  await inGuest(machine.driver(), id, "echo thawed > /persist/thawed; sync");
  const next = snapshotOf("next");
  await vms().createSnapshot(id, next, { source_disk_id: data.id, signal });
  expect((await stat(places.disk(next.id))).size).toBeGreaterThan(data.size_bytes);
  expect(await drafts()).toEqual([]);
  machine.leave();
  expect(await copiesInQemu()).toEqual({ jobs: [], has_draft: false });
  await machine.restart();
  // Deletes the interrupted snapshot, as the control plane does when it undoes the job.
  await vms().deleteSnapshot(id, snapshot.id);
});
