// The setup of a Linux node makes its arrays on the disks of a virtual machine: a small Debian in QEMU has the kernel,
// mdadm and LVM, and runs the functions of the setup script. The power fails after the first of two arrays was created.
import { execFile } from "node:child_process";
import { copyFile, mkdir, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { LINUX_FUNCTIONS } from "../../booter/setup/script-linux.ts";
import { lacking, present } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

const TOOLS = ["mmdebstrap", "bash", "cpio", "qemu-system-x86_64"] as const;
const why_not = process.platform !== "linux" || process.getuid?.() !== 0
  ? "this test needs Linux and root, because it installs Debian with mmdebstrap"
  : lacking(...TOOLS);
const run = promisify(execFile);
const PACKAGES = "linux-image-cloud-amd64,mdadm,lvm2,e2fsprogs,udev,kmod";
const DISKS = ["vda", "vdb", "vdc", "vdd"] as const;
const DISK_BYTES = 300 * 2 ** 20;
const BOOT_MS = 300_000;

/**
 * The first process of the machine. The test boots the machine three times: `run=` on the kernel's command line says
 * what to do.
 */
const INIT = `#!/bin/bash
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /run
exec >/dev/ttyS0 2>&1 </dev/null
for module in virtio_pci virtio_blk md_mod raid1 raid456 linear dm_mod; do modprobe $module; done
/lib/systemd/systemd-udevd --daemon
udevadm trigger --action=add
udevadm settle
cut_power() { sync; echo o >/proc/sysrq-trigger; sleep 100; }
stop() { echo "refused: $1"; cut_power; }
fail() { stop "$1"; }
set -u -o pipefail
pool=zones server_uuid=6f1c2a52-0d5e-4c7e-9a3b-5a3d7f0b9c11 work=/run/setup present=no
mkdir $work
. /functions.sh
set_up() {
  linux_find_pool
  printf '%s\\n' "$@" >$work/words
  linux_dry_run
  linux_create_pool
  vgs --noheadings -o vg_name,pv_count,vg_tags
}
case $(cat /proc/cmdline) in
*run=earlier*)
  # Another system used BIOS RAID, which is an array in a container, and an array without redundancy.
  mdadm --create /dev/md/bios --run --quiet --metadata=ddf --raid-devices=2 /dev/vda /dev/vdb
  mdadm --create /dev/md/volume --run --quiet --level=1 --raid-devices=2 /dev/md/bios
  mdadm --create /dev/md/joined --run --quiet --level=linear --raid-devices=2 /dev/vdc /dev/vdd
  udevadm settle
  cat /proc/mdstat
  set_up raidz vda vdb vdc vdd
  vgremove -y zones
  ;;
*run=interrupted*)
  # The power fails when the first array exists.
  mdadm() { command mdadm "$@" && if [ "$1" = --create ]; then echo interrupted; cut_power; fi; }
  set_up mirror vda vdb mirror vdc vdd
  ;;
*run=repeated*)
  set_up mirror vda vdb mirror vdc vdd
  root=/
  mkdir -p /usr/lib/berth
  ln -sf /bin/true /usr/lib/berth/storage
  show() {
    echo "$1: <$(lvs --noheadings -o lv_tags zones/data | tr -d ' ')> $(blkid -p -s TYPE -s LABEL /dev/zones/data)"
  }
  # The power failed inside lvcreate, before lvcreate erased an earlier file system.
  lvcreate --quiet --yes --addtag berth-new -n data -l 100%FREE zones
  mkfs.ext4 -q -L earlier /dev/zones/data
  show found
  linux_datasets
  show formatted
  lvremove --quiet --yes zones/data
  linux_datasets
  show created
  linux_datasets
  dd if=/dev/zero of=/dev/zones/data bs=1M count=1 conv=fsync 2>/dev/null
  linux_datasets
  ;;
esac
cut_power
`;

let folder: TemporaryFolder;
let kernel: string;
beforeAll(async () => {
  if (why_not !== null) return;
  folder = await temporaryFolder("linux-disks");
  const root = join(folder.path, "root");
  await run(present("mmdebstrap"), ["--variant=minbase", "--mode=root", `--include=${PACKAGES}`, "bookworm", root]);
  const [name] = (await readdir(join(root, "boot"))).filter((each) => each.startsWith("vmlinuz-"));
  kernel = join(folder.path, "vmlinuz");
  await copyFile(join(root, "boot", name!), kernel);
  for (const each of ["boot", "var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/locale"]) {
    await rm(join(root, each), { recursive: true });
  }
  await mkdir(join(root, "run"), { recursive: true });
  await writeFile(join(root, "init"), INIT, { mode: 0o755 });
  await writeFile(join(root, "functions.sh"), LINUX_FUNCTIONS);
  const pack = 'cd "$1" && find . | cpio -o -H newc --quiet | gzip -1 >"$2"';
  await run(present("bash"), ["-euo", "pipefail", "-c", pack, "pack", root, join(folder.path, "initrd")]);
  for (const disk of DISKS) {
    await writeFile(join(folder.path, disk), "");
    await truncate(join(folder.path, disk), DISK_BYTES);
  }
  return () => folder.remove();
});

/** Boots the machine for one run, and returns what it printed. */
async function boot(name: string): Promise<string> {
  const console = join(folder.path, `${name}.log`);
  await run(present("qemu-system-x86_64"), [
    ...["-m", "1536", "-nodefaults", "-display", "none", "-no-reboot", "-serial", `file:${console}`],
    ...["-kernel", kernel, "-initrd", join(folder.path, "initrd")],
    ...["-append", `console=ttyS0 quiet rdinit=/init run=${name}`],
    ...DISKS.flatMap((disk) => ["-drive", `file=${join(folder.path, disk)},format=raw,if=virtio`]),
  ], { timeout: BOOT_MS });
  return await readFile(console, "utf8");
}

test("a setup stops another system's arrays, continues after a power failure, and formats only a new volume", async (context) => {
  context.skip(why_not !== null, why_not ?? "");
  const earlier = await boot("earlier");
  expect(earlier.match(/: (?:inactive|active \w+)/g)?.sort()).toEqual([
    ": active linear",
    ": active raid1",
    ": inactive",
  ]);
  expect(earlier).toContain("successfully removed");
  expect(await boot("interrupted")).toContain("interrupted");
  const repeated = await boot("repeated");
  expect(repeated).toMatch(/zones +2 berth-6f1c2a52/);
  const volumes = repeated.match(/^\w+: <.*/gm)?.map((line) => line.trim());
  expect(volumes).toEqual([
    'found: <berth-new> /dev/zones/data: LABEL="earlier" TYPE="ext4"',
    'formatted: <> /dev/zones/data: LABEL="zones" TYPE="ext4"',
    'created: <> /dev/zones/data: LABEL="zones" TYPE="ext4"',
  ]);
  // The run "repeated" then damages the file system of the volume, and continues the setup.
  const refused = repeated.match(/refused: .*/g)?.map((line) => line.trim());
  expect(refused).toEqual(["refused: the file system of zones/data is damaged; repair it in rescue mode (e2fsck)"]);
});
