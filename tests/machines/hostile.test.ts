// Tests the driver with a guest that floods its console, and with a guest that writes to a full disk. The driver must
// keep working, and the second guest must continue when the disk has space again.
import { execFile } from "node:child_process";
import { mkdir, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { CONSOLE_RING_BYTES } from "../../nodeagent/qemu/console-ring.ts";
import { GATHER_MS } from "../../nodeagent/qemu/vm-console.ts";
import { SPACE_BYTES_MIN } from "../../nodeagent/qemu/disk-space.ts";
import { needs, present } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { BOOT, inGuest, needsMachine, openMachine, ready, SOON, type TestMachine, type, vmOf } from "./machine.ts";

const MIB = 2 ** 20;
const run = promisify(execFile);
let machine: TestMachine | undefined;
let disk: TemporaryFolder | undefined;

beforeEach(needsMachine);
afterEach(async () => {
  await machine?.remove();
  machine = undefined;
});
afterAll(async () => {
  if (disk === undefined) return;
  await run(present("umount"), [disk.path]).catch(() => {});
  await disk.remove();
});

test("if a guest floods its console, the agent reads the console at most once in 20 ms, and the console buffer keeps its size limit", async () => {
  machine = await openMachine({ halt_wait_ms: 500 });
  const id = await machine.create();
  await ready(machine.driver(), id);
  type(machine.driver(), id, "yes 0123456789012345678901234567890123456789 > /dev/ttyS0 &\n");
  const began_ms = performance.now();
  let bytes = 0;
  let reads = 0;
  let isReading = false;
  const end = machine.driver().console(id)!.subscribe((chunk) => {
    bytes += chunk.length;
    if (isReading) return;
    // All parts of one read arrive before the next turn of the event loop.
    isReading = true;
    reads += 1;
    setImmediate(() => isReading = false);
  });
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  end();
  expect(bytes).toBeGreaterThan(10_000);
  expect(reads).toBeLessThanOrEqual((performance.now() - began_ms) / GATHER_MS + 1);
  expect(machine.driver().console(id)!.ring().length).toBeLessThanOrEqual(CONSOLE_RING_BYTES);
  expect(await vmOf(machine.driver(), id)).toMatchObject({ state: "running" });
  await machine.driver().vms.halt(id);
  expect(await vmOf(machine.driver(), id)).toMatchObject({ state: "stopped" });
});

test("when the node's disk is full, a guest that writes is paused; it continues without an error when there is space", async (context) => {
  needs(context, "mount", "umount");
  disk = await temporaryFolder("d");
  await run(present("mount"), [
    "-t",
    "tmpfs",
    "-o",
    `size=${SPACE_BYTES_MIN + 200 * MIB},mode=711`,
    "berth",
    disk.path,
  ]);
  machine = await openMachine({ halt_wait_ms: 500 }, join(disk.path, "lib"));
  const id = await machine.create({}, 256 * MIB);
  await ready(machine.driver(), id);
  const filler = join(disk.path, "filler");
  await mkdir(filler);
  const { bavail, bsize } = await statfs(disk.path);
  await writeFile(join(filler, "bytes"), new Uint8Array(bavail * bsize - 8 * MIB));
  type(machine.driver(), id, "dd if=/dev/urandom of=/dev/vda bs=1M seek=60 count=24 conv=fsync; echo copied $?\n");
  await expect.poll(() => machine!.log.join("\n"), BOOT).toContain("waits, because the node's disk is full");
  expect(await vmOf(machine.driver(), id)).toMatchObject({ state: "running" });
  await rm(filler, { recursive: true });
  await expect.poll(() => machine!.log.join("\n"), SOON).toContain(
    "continues, because the node's disk has space again",
  );
  expect(await inGuest(machine.driver(), id, "wait; echo done")).toContain("done");
  const text = new TextDecoder().decode(machine.driver().console(id)!.ring());
  expect(text).toMatch(/copied 0/);
  expect(text).toMatch(
    /\[berth: the node's disk is full: the machine waits[^]*\[berth: the node's disk has space again/,
  );
});
