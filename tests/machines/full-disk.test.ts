// A running instance and its data disk can be removed from a node whose disk is full. docs/instances.md, "Jobs".
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { present } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openMachine, type TestMachine, withMachine } from "./machine.ts";

const MIB = 2 ** 20;
const run = promisify(execFile);

let machine: TestMachine;
let small: string;

withMachine(
  async () => {
    const folder = await temporaryFolder("full-node");
    await chmod(folder.path, 0o711);
    small = join(folder.path, "lib");
    await mkdir(small);
    await run(present("mount"), ["-t", "tmpfs", "-o", "size=512m,mode=711", "tmpfs", small]);
    machine = await openMachine({}, small);
    return async () => {
      await machine.remove();
      await run(present("umount"), [small]);
      await folder.remove();
    };
  },
  "mount",
  "umount",
);

test("on a full disk, a running instance and its data disk are removed", async () => {
  const { vms } = machine.driver();
  const id = await machine.create();
  const disk = { id: randomUUID(), name: "data", size_bytes: 64 * MIB };
  await vms.createDisk(id, disk, { source: null, signal: new AbortController().signal });
  const fill = (name: string) => writeFile(join(small, name), new Uint8Array(512 * MIB)).catch(() => {});
  await fill("fill");
  await expect(vms.detachDisk(id, disk.id), "the record cannot be written").rejects.toThrow("ENOSPC");
  await vms.deleteDisk(id, disk.id);
  expect(vms.disksOf(id)).toHaveLength(1);
  await fill("more");
  await vms.destroy(id);
  expect(await machine.left()).toEqual([]);
});
