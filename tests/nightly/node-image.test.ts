// A bare machine becomes a node with a Linux node image: it boots from the network by DHCP and iPXE, announces itself,
// gets the disk layout that an operator approved, formats its disks, installs the agent, restarts, and is ready.
// Everything between the operator's commands and the machine is real; the firmware is SeaBIOS with iPXE.
import { readFile } from "node:fs/promises";
import process from "node:process";
import { expect, test } from "vitest";
import { releaseKeyIn } from "../release/small-release.ts";
import { okOf } from "../support/control-plane.ts";
import { lacking } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { buildImage, openBareRack, until, UUID } from "./bare-rack.ts";

const TOOLS = ["mmdebstrap", "mksquashfs", "cpio", "depmod", "chroot", "bash"] as const;
const why_not = process.platform !== "linux" || process.getuid?.() !== 0
  ? "this test needs Linux and root, because it builds a node image"
  : lacking(...TOOLS, "ip", "qemu-system-x86_64", "iPXE for BIOS", "iPXE on QEMU's network card");
const NAME = ["--hostname", "node-1"] as const;
/** Without KVM, each boot takes minutes. */
const BOOT_MS = 1_200_000;
const LIMIT_MS = 3_600_000;

test(
  "a bare machine is set up, joins, and comes back after a power failure as the same node with its disks",
  async (context) => {
    context.skip(why_not !== null, why_not ?? "");
    const rack = await openBareRack();
    try {
      const node = async () => (await rack.t.call("GET", `/v1/system/cns/${UUID}`)).body;
      const isReady = async () => / yes\b/.test((await rack.opsctl("cn", "list")).stdout);
      await rack.power();
      await until(rack, BOOT_MS, async () => (await node()).state === "awaiting_setup");
      expect(okOf(await rack.t.call("GET", `/v1/cns/${UUID}/setup-layout-proposal`)).proposal).toMatchObject({
        layout: "mirror",
        destroys: ["vda", "vdb"],
      });
      const approved = await rack.opsctl(
        "cn",
        "setup",
        "approve",
        UUID,
        "--layout",
        "mirror",
        ...NAME,
        "--yes",
        "--wait",
      );
      expect(approved.code, `${approved.stderr}\n${await rack.console()}`).toBe(0);
      await rack.ended();

      await rack.power();
      await until(rack, BOOT_MS, isReady);
      const first = await node();
      expect(first.state).toBe("approved");
      const key = await hostKey(rack.console);

      // The power fails. The machine's identity, its key and its data are on its disks.
      await rack.power();
      await until(rack, BOOT_MS, async () => (await node()).last_seen > first.last_seen && await isReady());
      expect((await node()).server_uuid).toBe(UUID);
      expect(await hostKey(rack.console)).toBe(key);
    } finally {
      await rack.close();
    }
  },
  LIMIT_MS,
);

/** Waits until berth-storage prints the fingerprint of the node's own SSH key. Returns the fingerprint. */
async function hostKey(console: () => Promise<string>): Promise<string> {
  await expect.poll(console, { timeout: BOOT_MS }).toMatch(/SHA256:\S{43}/);
  return /SHA256:\S{43}/.exec(await console())![0];
}

test("two builds of a node image from the same packages and the same agent have the same bytes", async (context) => {
  context.skip(why_not !== null, why_not ?? "");
  const folders = [await temporaryFolder("node-image"), await temporaryFolder("node-image")] as const;
  try {
    const key = await releaseKeyIn(folders[0].path);
    const built = [await buildImage(folders[0].path, key), await buildImage(folders[1].path, key)] as const;
    for (const name of ["vmlinuz", "initramfs", "manifest.json", "manifest.json.asc", "packages.txt"]) {
      const [one, other] = await Promise.all(
        folders.map(({ path }, at) => readFile(`${path}/${built[at]!.stamp}/${name}`)),
      );
      expect(one!.equals(other!), name).toBe(true);
    }
  } finally {
    for (const each of folders) await each.remove();
  }
}, LIMIT_MS);
