// Tests that the agent raises the kernel's limits on neighbours, and never lowers a limit. A temporary folder replaces
// /proc/sys/net.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { raiseNeighbourLimits } from "../../../nodeagent/network/neighbour-limits.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const NAMES = ["gc_thresh1", "gc_thresh2", "gc_thresh3"] as const;

test("lower limits are raised in both families, a higher limit stays, and a failure is only logged", async () => {
  const folder = await temporaryFolder("neighbours");
  const fileOf = (family: string, name: string) => join(folder.path, family, "neigh/default", name);
  const defaults = { gc_thresh1: 128, gc_thresh2: 512, gc_thresh3: 1_024 };
  for (const family of ["ipv4", "ipv6"]) {
    await mkdir(join(folder.path, family, "neigh/default"), { recursive: true });
    for (const name of NAMES) await writeFile(fileOf(family, name), `${defaults[name]}\n`);
  }
  await writeFile(fileOf("ipv6", "gc_thresh3"), "100000\n");
  const log: string[] = [];
  const limitsOf = (family: string) =>
    Promise.all(NAMES.map(async (name) => Number(await readFile(fileOf(family, name), "utf8"))));
  await raiseNeighbourLimits((line) => void log.push(line), folder.path);
  expect(await limitsOf("ipv4")).toEqual([8_192, 16_384, 32_768]);
  expect(await limitsOf("ipv6")).toEqual([8_192, 16_384, 100_000]);
  expect(log).toEqual([]);
  await rm(join(folder.path, "ipv4"), { recursive: true });
  await raiseNeighbourLimits((line) => void log.push(line), folder.path);
  expect(log).toHaveLength(3);
  await folder.remove();
});
