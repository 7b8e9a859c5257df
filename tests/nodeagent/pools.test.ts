// Tests the health of a node's storage, from the files in which Linux shows its arrays.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readPools } from "../../nodeagent/qemu/pools.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

let folder: TemporaryFolder;
beforeEach(async () => {
  folder = await temporaryFolder("sys");
});
afterEach(() => folder.remove());

async function writeArray(name: string, files: Readonly<Record<string, string>>): Promise<void> {
  const of_array = join(folder.path, "block", name, "md");
  await mkdir(of_array, { recursive: true });
  for (const [file, text] of Object.entries(files)) await writeFile(join(of_array, file), `${text}\n`);
}

const pools = () => readPools({ proc: "/proc", sys: folder.path });
const mirror = { array_state: "clean", raid_disks: "2", degraded: "0" };
const HEALTHY = { zones: { status: "ONLINE", health: "healthy" } };

test("the pool is healthy without arrays and with whole arrays, even without redundancy", async () => {
  expect(await pools()).toEqual(HEALTHY);
  await mkdir(join(folder.path, "block/sda"), { recursive: true });
  await writeArray("md126", { array_state: "clean", raid_disks: "2" });
  await writeArray("md127", { ...mirror, array_state: "active" });
  expect(await pools()).toEqual(HEALTHY);
});

test("the pool is degraded while an array lacks a disk, even during a reshape, and healthy after the rebuild", async () => {
  await writeArray("md126", mirror);
  await writeArray("md127", { ...mirror, degraded: "1" });
  expect(await pools()).toEqual({ zones: { status: "DEGRADED", health: "degraded: md127 lacks 1 of 2 disks" } });
  await writeArray("md126", { array_state: "active", raid_disks: "6 (5)", degraded: "2" });
  expect((await pools())["zones"]!.health).toBe("degraded: md126 lacks 2 of 6 disks, md127 lacks 1 of 2 disks");
  await writeArray("md126", { raid_disks: "6", degraded: "0" });
  await writeArray("md127", mirror);
  expect(await pools()).toEqual(HEALTHY);
});

test("the pool is faulted if an array lost more disks than its layout allows", async () => {
  await writeArray("md126", { ...mirror, degraded: "1" });
  await writeArray("md127", { array_state: "broken", raid_disks: "3", degraded: "2" });
  expect(await pools()).toEqual({
    zones: { status: "FAULTED", health: "faulted: md126 lacks 1 of 2 disks, md127 has failed" },
  });
});
