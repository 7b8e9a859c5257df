// Tests the restart of a node that runs QEMU, and the platform image that the node reports.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bootedImage, reboot } from "../../nodeagent/qemu/reboot.ts";
import type { VmRecord } from "../../nodeagent/qemu/vm-record.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

function machine(vms: readonly Partial<VmRecord>[]) {
  const ran: (readonly string[])[] = [];
  const run = (argv: readonly string[]) => Promise.resolve(void ran.push(argv));
  return { ran, parts: { store: { all: () => vms as VmRecord[] }, boot_id: "boot-1", run } };
}

test("a timer of systemd restarts the machine later, so the job can report its end first", async () => {
  const { ran, parts } = machine([{ power: "off" }]);
  await reboot(parts, "boot-1");
  expect(ran).toEqual([["systemd-run", "--on-active=10", "systemctl", "reboot"]]);
});

test("a machine that has restarted since the job was created does not restart again", async () => {
  const { ran, parts } = machine([{ power: "on" }]);
  await reboot(parts, "boot-0");
  expect(ran).toEqual([]);
});

test.each<Partial<VmRecord>>([{ power: "on" }, { power: "starting" }, { power: "off", move: {} as never }])(
  "a machine with a VM that runs or moves (%o) does not restart",
  async (vm) => {
    const { ran, parts } = machine([vm]);
    await expect(reboot(parts, "boot-1")).rejects.toThrow("1 virtual machine runs on the node");
    expect(ran).toEqual([]);
  },
);

test("if the timer cannot be set, the restart fails with the reason", async () => {
  const { parts } = machine([]);
  const run = () => Promise.reject(new Error("systemd-run: it failed"));
  await expect(reboot({ ...parts, run }, "boot-1")).rejects.toThrow(
    "the machine cannot restart itself: systemd-run: it failed",
  );
});

test("the platform image is the stamp that the booter sent; a machine without a stamp reports no image", async () => {
  const folder = await temporaryFolder("reboot");
  try {
    expect(await bootedImage(folder.path)).toBeNull();
    const boot = join(folder.path, "boot");
    await mkdir(boot);
    await writeFile(join(boot, "boot.properties"), "hostname=n1\nplatform_stamp=20261121T000000Z\n");
    await writeFile(join(boot, "networking.json"), "{}");
    expect(await bootedImage(boot)).toBe("20261121T000000Z");
  } finally {
    await folder.remove();
  }
});
