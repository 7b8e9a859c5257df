// Tests which disks of a machine with a Linux node image the setup may erase. If a run finds no pool, it calls the
// layout tool, which fails in these tests. setup-script.test.ts has the tests for SmartOS.
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { LINUX_FUNCTIONS } from "../../booter/setup/script-linux.ts";
import { lacking, needs, present } from "../support/optional-programs.ts";
import { NEEDED, openScratchMachine, type ScratchMachineFixture, STAMP } from "./scratch-machine.ts";

const why_not = lacking(...NEEDED);
let fixture: ScratchMachineFixture;
beforeAll(async () => {
  if (why_not === null) fixture = await openScratchMachine();
});
afterAll(() => fixture?.close());
beforeEach((context) => needs(context, ...NEEDED));

type Disks = {
  /** The output of vgs. */
  readonly groups?: string;
  /** Each device with its type and its label, as lsblk prints them. */
  readonly contents?: readonly (readonly [device: string, type: string, label: string])[];
  /** The members of started arrays. */
  readonly started?: readonly string[];
  /** The call that fails, counted from 1. */
  readonly fail_at?: number;
};

/** Runs the setup on a machine with these disks. Returns its exit code and its last report. */
async function setUp({ groups = "", contents = [], started = [], fail_at }: Disks): Promise<[number, string]> {
  const machine = await fixture.machine();
  await mkdir(join(machine.root, "disk/etc/berth"), { recursive: true });
  await writeFile(join(machine.root, "disk/etc/berth/boot.properties"), `platform_stamp=${STAMP}\n`);
  await machine.put("groups", groups);
  await machine.put(
    "contents",
    contents.map(([device, type, label]) => `NAME="${device}" FSTYPE="${type}" LABEL="${label}"\n`).join(""),
  );
  await machine.put("started", started.map((each) => `${each}\n`).join(""));
  if (fail_at !== undefined) await machine.put("fail_at", String(fail_at));
  const { code } = await machine.start();
  expect(await machine.state("unknown")).toBeNull();
  return [code, machine.reports.at(-1)!.text];
}

const REFUSED: readonly [string, Disks, number, RegExp][] = [
  [
    "a volume group of another machine exists",
    { groups: "  zones berth-11111111-2222-3333-4444-555555555555\n" },
    20,
    /not this machine's/,
  ],
  [
    "SmartOS' pool exists",
    { contents: [["/dev/sda", "", ""], ["/dev/sda1", "zfs_member", "zones"], ["/dev/sdb1", "zfs_member", "zones"]] },
    20,
    /a ZFS pool zones exists on \/dev\/sda1 \/dev\/sdb1;/,
  ],
  [
    "an array of an earlier setup does not start, because disks are missing",
    {
      contents: [
        ["/dev/sda", "linux_raid_member", "any:berth0"],
        ["/dev/sdb", "linux_raid_member", "any:berth1"],
        ["/dev/sdc", "linux_raid_member", "any:berth1"],
      ],
      started: ["/dev/sda"],
    },
    20,
    /array on \/dev\/sdb \/dev\/sdc does not start;/,
  ],
  ["the contents of the disks cannot be read", { fail_at: 6 }, 1, /cannot find out what the disks contain/],
];
test.concurrent.for(REFUSED)("the setup erases no disk if %s", async ([_name, disks, code, text], { expect }) => {
  const [ended, last] = await setUp(disks);
  expect([ended, last]).toEqual([code, expect.stringMatching(text)]);
  expect(last).toMatch(/^refuse_existing_pool: /);
});

const USED: readonly [string, Disks][] = [
  ["empty disks", { contents: [["/dev/sda", "", ""], ["/dev/sdb", "", ""]] }],
  ["other systems, pools and arrays", {
    groups: "  debian-vg \n",
    contents: [
      ["/dev/sda1", "ext4", "zones"],
      ["/dev/sda2", "ntfs", "Windows"],
      ["/dev/sda3", "LVM2_member", ""],
      ["/dev/sdb", "zfs_member", "tank"],
      ["/dev/sdc", "linux_raid_member", "debian:0"],
    ],
  }],
  ["started arrays of an interrupted setup", {
    contents: [["/dev/sda", "linux_raid_member", "any:berth0"], ["/dev/sdb", "linux_raid_member", "any:berth0"]],
    started: ["/dev/sda", "/dev/sdb"],
  }],
];
test.concurrent.for(USED)("the setup continues on a machine with %s", async ([_name, disks], { expect }) => {
  expect(await setUp(disks)).toEqual([1, expect.stringMatching(/^layout: fatal error: no disks/)]);
});

/**
 * A script with fake tools. The array of the disks contains the volume group of an earlier setup. Only wipefs on the
 * array erases this group, not wipefs on the disks.
 */
const SAME_ARRAY_AGAIN = String.raw`
work=$1 pool=zones server_uuid=1 group=none
stop() { echo "stopped: $1"; exit 1; }
check_disk() { :; }
udevadm() { :; }
arrays_on() { :; }
mdadm() { if [ "$1" = --create ]; then group=zones; fi; }
wipefs() { if [ "$2" = /dev/md/berth0 ]; then group=none; fi; }
vgcreate() { [ "$group" = none ] || { echo "A volume group called zones already exists."; return 1; }; }
linux_dry_run && linux_create_pool 2>&1 && echo created
`;
test("the setup creates its volume group on an array that contains an earlier group", async () => {
  const { root } = await fixture.machine();
  await writeFile(join(root, "words"), "mirror\nsda\nsdb\n");
  const script = LINUX_FUNCTIONS + SAME_ARRAY_AGAIN;
  const ended = await promisify(execFile)(present("bash"), ["-uc", script, "setup", root]).catch((error) => error);
  expect(ended.stdout).toBe("created\n");
});

/**
 * A script with fake tools. All disks belong to a started array. The script ends when it creates the first array, like
 * an interrupted run. The second argument names a disk that cannot be erased.
 */
const FIRST_ARRAY = String.raw`
work=$1 unwritable=$2
stop() { echo "stopped: $1"; exit; }
check_disk() { :; }
arrays_on() { echo md127; }
wipefs() { shift; echo "erase $*"; for each in "$@"; do [ "$each" != "$unwritable" ] || return 1; done; }
mdadm() { echo "mdadm $1"; [ "$1" = --stop ] || exit 0; }
linux_dry_run
linux_create_pool 2>&1
`;
const DISKS = ["sda", "sdb", "sdc", "sdd", "sde"];
const STOPPED = DISKS.map(() => "mdadm --stop");
const ERASED = `erase ${DISKS.map((disk) => `/dev/${disk}`).join(" ")}`;
test.each([
  ["stops all arrays and erases all disks with one command before it creates the first array", "", ["mdadm --create"]],
  [
    "erases all other disks if one disk cannot be erased",
    "/dev/sdc",
    [...DISKS.map((disk) => `erase /dev/${disk}`), "stopped: these disks could not be erased: sdc"],
  ],
])("the setup %s, so an interruption leaves no part of an earlier array", async (_, unwritable, then) => {
  const { root } = await fixture.machine();
  await writeFile(join(root, "words"), "mirror\nsda\nsdb\nmirror\nsdc\nsdd\nspare\nsde\n");
  const script = LINUX_FUNCTIONS + FIRST_ARRAY;
  const { stdout } = await promisify(execFile)(present("bash"), ["-uc", script, "setup", root, unwritable]);
  expect(stdout.trim().split("\n")).toEqual([...STOPPED, ERASED, ...then]);
});

/**
 * A script with fake tools. The first argument is the file system that blkid finds. The second argument has the tags of
 * the existing volume, or is `missing` if no volume exists.
 */
const VOLUME = String.raw`
pool=zones root=/ found=$1 tags=$2
stop() { echo "stopped: $1"; exit; }
vgchange() { :; }
udevadm() { :; }
lvs() { if [ "$1" = --noheadings ]; then echo "  $tags"; else [ "$tags" != missing ]; fi; }
lvcreate() { tags=$6; echo "created with $6"; }
lvchange() { tags=; echo "removed $3"; }
blkid() { echo "$found"; }
mkfs.ext4() { found=ext4; echo formatted; }
`;
test.each([
  ["a missing volume is created and formatted", "", "missing", [
    "created with berth-new",
    "formatted",
    "removed berth-new",
  ]],
  ["a new volume of an interrupted run is formatted", "", "berth-new", ["formatted", "removed berth-new"]],
  ["a new volume with an earlier file system is formatted", "ext4", "berth-new", ["formatted", "removed berth-new"]],
  ["an existing volume with its file system is not formatted", "ext4", "", []],
  ["an existing volume with a damaged file system is not formatted", "", "", [
    expect.stringMatching(/^stopped: .* is damaged; repair it/),
  ]],
])("%s", async (_, found, tags, lines) => {
  // Removes the last command of the function, which mounts the file systems.
  const script = VOLUME +
    LINUX_FUNCTIONS.replace(/^ *\/usr\/lib\/berth\/storage .*$/m, "") + "\nlinux_datasets 2>&1\n";
  const { stdout } = await promisify(execFile)(present("bash"), ["-uc", script, "setup", found, tags]);
  expect(stdout.split("\n").filter((line) => line !== "")).toEqual(lines);
});
