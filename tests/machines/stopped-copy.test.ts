// A job that is withdrawn while it copies a disk ends at once and leaves no file. docs/instances.md, "Jobs".
import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { chown, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { placesOf, type VmPlaces } from "../../nodeagent/qemu/folders.ts";
import { present } from "../support/optional-programs.ts";
import { openMachine, type TestMachine, withMachine } from "./machine.ts";

const MIB = 2 ** 20;
const run = promisify(execFile);

let machine: TestMachine;
let id: string;
let boot: { readonly id: string; readonly size_bytes: number };
let places: VmPlaces;
const vms = () => machine.driver().vms;
const { signal } = new AbortController();
const fresh = (name: string) => ({ id: randomUUID(), name, size_bytes: boot.size_bytes });

withMachine(async () => {
  machine = await openMachine();
  const plan = await machine.plan();
  id = plan.instance.id;
  await vms().createDisks(plan);
  [boot] = vms().disksOf(id) as [typeof boot];
  places = placesOf(machine.folders, id);
  // Data that cannot be compressed, so that a copy takes a while.
  const raw = join(machine.folders.machine_dir, "data.raw");
  await writeFile(raw, randomBytes(128 * MIB));
  const { uid, gid } = await stat(places.disk(boot.id));
  await run(present("qemu-img"), ["convert", "-f", "raw", "-O", "qcow2", raw, places.disk(boot.id)]);
  await chown(places.disk(boot.id), uid, gid);
  await rm(raw);
  return machine.remove;
});

/**
 * Begins the work, and stops it when a file with this ending appears. Returns the message of its error, or `completed`.
 */
async function stopAt(ending: string, folder: string, work: (signal: AbortSignal) => Promise<unknown>) {
  const stop = new AbortController();
  const ended = work(stop.signal).then(() => "completed", (error) => error.message);
  let is_over = false;
  void ended.finally(() => is_over = true);
  while (!is_over && !(await readdir(folder)).some((name) => name.endsWith(ending))) await new Promise(setImmediate);
  stop.abort(new Error("withdrawn"));
  return await ended;
}

test("the copy for a snapshot, for a disk from the snapshot, and for an image of the snapshot can be stopped", async () => {
  const before = await readdir(places.folder);
  const [snapshot, restored] = [fresh("snapshot"), fresh("restored")];
  const source_disk_id = boot.id;
  expect(
    await stopAt(".new", places.folder, (signal) => vms().createSnapshot(id, snapshot, { source_disk_id, signal })),
  ).toBe("withdrawn");
  expect(await readdir(places.folder)).toEqual(before);

  await vms().createSnapshot(id, snapshot, { source_disk_id, signal });
  const copied = await readdir(places.folder);
  const source = { disk_id: snapshot.id };
  expect(await stopAt(".new", places.folder, (signal) => vms().createDisk(id, restored, { source, signal }))).toBe(
    "withdrawn",
  );
  expect(await stopAt(".new", places.folder, (signal) => vms().exportSnapshot(id, snapshot.id, { signal }))).toBe(
    "withdrawn",
  );
  expect(await readdir(places.folder)).toEqual(copied);
  // A killed agent leaves the files of its unfinished copies.
  await writeFile(`${places.disk(restored.id)}.new`, "");
  await writeFile(`${places.disk(snapshot.id)}.new`, "");
  await vms().deleteDisk(id, restored.id);
  await vms().deleteSnapshot(id, snapshot.id);
  expect(await readdir(places.folder)).toEqual(before);
  expect(vms().disksOf(id)).toEqual([boot]);
});

test("the conversion of an image, and the copy to a disk from the image, can be stopped", async () => {
  const { folder, prepare } = machine.driver().images!;
  const [source, target] = [join(folder, "source"), join(folder, "target")];
  await writeFile(source, randomBytes(128 * MIB));
  const before = await readdir(folder);
  const options = { bytes_max: 128 * MIB, makeRoom: () => Promise.resolve() };
  expect(await stopAt(".base-target", folder, (signal) => prepare(source, target, { ...options, signal }))).toBe(
    "withdrawn",
  );
  expect(await readdir(folder)).toEqual(before);

  await prepare(source, target, { ...options, signal });
  const restored = fresh("restored");
  const of_image = { source: { image_path: target } };
  expect(
    await stopAt(".new", places.folder, (signal) => vms().createDisk(id, restored, { ...of_image, signal })),
  ).toBe("withdrawn");
  await vms().createDisk(id, restored, { ...of_image, signal });
  expect((await readdir(places.folder)).filter((name) => name.endsWith(".new"))).toEqual([]);
  await vms().deleteDisk(id, restored.id);
});
