// An image without boot code for BIOS boots with UEFI.
import { execFile } from "node:child_process";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeBaseImage } from "../../nodeagent/qemu/base-image.ts";
import { builtGuest } from "../guest/guest.ts";
import { needs, present } from "../support/optional-programs.ts";
import { inGuest, needsMachine, openMachine, ready, type TestMachine } from "./machine.ts";

const BOOT_CODE_BYTES = 440;
/** The firmware itself needs memory, too: with 160 MiB the guest's kernel cannot be unpacked. */
const MEMORY_BYTES = 384 * 2 ** 20;
const run = promisify(execFile);
let machine: TestMachine | undefined;

beforeEach(needsMachine);
afterEach(() => machine?.remove());

test("a disk whose first sector has no boot code boots with UEFI", async (context) => {
  needs(context, "UEFI firmware", "UEFI variables");
  machine = await openMachine({ halt_wait_ms: 500 });
  const driver = machine.driver();
  const guest = await builtGuest();
  const raw = join(driver.images!.folder, "disk.raw");
  await run(present("qemu-img"), ["convert", "-O", "raw", guest.path, raw]);
  const disk = await open(raw, "r+");
  await disk.write(new Uint8Array(BOOT_CODE_BYTES), 0, BOOT_CODE_BYTES, 0);
  await disk.close();
  const image_path = join(driver.images!.folder, "uefi");
  await makeBaseImage(raw, image_path, {
    bytes_max: guest.content_bytes,
    makeRoom: async () => {},
    signal: new AbortController().signal,
  });
  const plan = await machine.plan({ image_path });
  const { id } = plan.instance;
  Object.assign(plan.instance, { memory_bytes: MEMORY_BYTES });
  await driver.vms.createDisks(plan);
  await driver.vms.createNics(plan);
  await driver.vms.create(plan);
  await driver.vms.boot(id);
  await ready(driver, id);
  expect(await inGuest(driver, id, "ls /sys/firmware")).toContain("efi");
});
