// Tests the pure parts of the QEMU driver: command lines, the ring buffer of the console, and the check of image files.
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createConsoleRing } from "../../nodeagent/qemu/console-ring.ts";
import { placesOf, SOCKET_PATH_BYTES_MAX } from "../../nodeagent/qemu/folders.ts";
import { compressionOf, type DiskFormat, formatOf, judgeImage } from "../../nodeagent/qemu/image-verdict.ts";
import { confinedArgv, unitArgv } from "../../nodeagent/qemu/launch-argv.ts";
import { qemuArgv } from "../../nodeagent/qemu/qemu-argv.ts";
import { EXTRA_NICS_MAX } from "../../src/contract/limits.ts";
import { reportedState, type VmRecord } from "../../nodeagent/qemu/vm-record.ts";

const ID = "3f2a9c1e-0000-4000-8000-000000000001";
const DISK = "3f2a9c1e-0000-4000-8000-0000000000d1";
const places = placesOf({ machine_dir: "/var/lib/berth", run_dir: "/run/berth" }, ID);

function record(change: Partial<VmRecord> = {}): VmRecord {
  return {
    id: ID,
    uid: 200_007,
    name: "web1",
    brand: "kvm",
    owner_uuid: ID,
    cpu: 2,
    memory_bytes: 2 ** 30,
    firmware: "bios",
    disks: [{ id: DISK, name: "boot", kind: "boot", size_bytes: 2 ** 30, image_sha256: null }],
    nics: [{ id: ID, name: "net0", mac: "02:00:00:AB:cd:01", addresses: [], vpc_id: ID, subnet_id: ID }],
    internal_metadata: {},
    power: "off",
    boot_id: "",
    end: null,
    last_modified: "",
    ...change,
  };
}

const options = { program: "qemu-system-x86_64", accelerator: "tcg", places, uefi: null } as const;

/** Returns the PCI devices of a VM with this number of NICs. */
function devicesOf(nics: number): readonly string[] {
  const argv = qemuArgv(record({ nics: Array.from({ length: nics }, () => record().nics[0]!) }), options);
  return argv.filter((word, index) => argv[index - 1] === "-device" && !word.startsWith("virtserialport,"));
}

const isOnRootBus = (device: string) => !device.includes(",bus=");

describe("the command line of QEMU", () => {
  test("matches the snapshot", () => {
    expect(qemuArgv(record(), options)).toMatchSnapshot();
  });

  test("with KVM uses the node's processor", () => {
    const argv = qemuArgv(record(), { ...options, accelerator: "kvm" });
    expect(argv[argv.indexOf("-accel") + 1]).toBe("kvm");
    expect(argv[argv.indexOf("-cpu") + 1]).toBe("host");
  });

  test("with UEFI has the firmware read-only and the VM's own variables", () => {
    const uefi = { code: "/firmware/code.fd", variables: "/firmware/variables.fd" };
    const argv = qemuArgv(record({ firmware: "uefi" }), { ...options, uefi }).join(" ");
    expect(argv).toContain(`unit=0,file=${uefi.code},readonly=on`);
    expect(argv).toContain(`unit=1,file=${places.uefi_variables},readonly=off`);
    expect(() => qemuArgv(record({ firmware: "uefi" }), options)).toThrow("UEFI firmware is missing");
  });

  test.each([1, 22, 23, 1 + EXTRA_NICS_MAX])("with %i NICs has a slot for every device", (count) => {
    const devices = devicesOf(count);
    expect(devices.filter((device) => device.startsWith("virtio-net-pci"))).toHaveLength(count);
    // Slot 0 of the root bus is the host bridge, and slot 31 is the controller of the chipset.
    expect(devices.filter(isOnRootBus).length).toBeLessThanOrEqual(30);
  });

  test("has a PCI bridge only if the root bus lacks slots, so that PCI addresses in guests with fewer NICs stay the same", () => {
    expect(devicesOf(22).every(isOnRootBus)).toBe(true);
    expect(devicesOf(23).filter((device) => !isOnRootBus(device))).toEqual([
      expect.stringMatching(/^virtio-net-pci,netdev=nic21,.*,bus=nic-bridge$/),
      expect.stringMatching(/^virtio-net-pci,netdev=nic22,.*,bus=nic-bridge$/),
    ]);
  });

  test("runs without privileges in the VM's own namespace", () => {
    expect(confinedArgv({ vm_id: ID, uid: 200_007, kvm_gid: null }, ["qemu"])).toMatchSnapshot();
    expect(confinedArgv({ vm_id: ID, uid: 200_007, kvm_gid: 104 }, ["qemu"])).toContain("--groups=104");
  });

  test("under systemd is a transient service with limits", () => {
    expect(unitArgv({ vm_id: ID, cpu: 2, memory_bytes: 2 ** 30 }, ["qemu", "-S"])).toMatchSnapshot();
  });
});

test("paths of sockets fit into a socket address", () => {
  expect(places.socket("console").length).toBeLessThanOrEqual(SOCKET_PATH_BYTES_MAX);
});

test("an id that is not a UUID is refused as the name of a folder", () => {
  expect(() => placesOf({ machine_dir: "/m", run_dir: "/r" }, "../../etc")).toThrow("is not the id of an instance");
});

test.each<[VmRecord["power"], VmRecord["end"], string]>([
  ["off", null, "provisioning"],
  ["starting", null, "provisioning"],
  ["on", null, "running"],
  ["stopping", null, "running"],
  ["off", { state: "stopped", reason: null }, "stopped"],
  ["off", { state: "failed", reason: "why" }, "failed"],
  ["starting", { state: "stopped", reason: null }, "stopped"],
])("a VM with the power %s and the end %j is reported as %s", (power, end, state) => {
  expect(reportedState(record({ power, end }))).toBe(state);
});

describe("the console ring", () => {
  test("keeps the last bytes, whatever the sizes of the writes", () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 40 });
    fc.assert(fc.property(sizes, fc.integer({ min: 1, max: 200 }), (sizes, capacity) => {
      const ring = createConsoleRing(capacity);
      let whole = Buffer.alloc(0);
      for (const size of sizes) {
        const chunk = randomBytes(size);
        ring.append(chunk);
        whole = Buffer.concat([whole, chunk]);
        expect(Buffer.from(ring.content()).equals(whole.subarray(Math.max(0, whole.length - capacity)))).toBe(true);
      }
    }));
  });

  test("keeps 1 MiB by default", () => {
    const ring = createConsoleRing();
    for (let index = 0; index < 20; index++) ring.append(new Uint8Array(100_000).fill(index));
    expect(ring.content()).toHaveLength(2 ** 20);
    expect(ring.content().at(-1)).toBe(19);
  });

  test("a copy does not change with later output", () => {
    const ring = createConsoleRing();
    ring.append(Buffer.from("one"));
    const copy = ring.content();
    ring.append(Buffer.from("two"));
    expect(Buffer.from(copy).toString()).toBe("one");
  });
});

describe("the verdict on an image", () => {
  const bytes_max = 10 * 2 ** 20;
  const judge = (format: DiskFormat, info: object) =>
    judgeImage({ filename: "source", format, "virtual-size": 2 ** 20, ...info }, { format, bytes_max });

  test("accepts a file that is complete in itself, and returns the size of its disk", () => {
    expect(judge("raw", {})).toBe(2 ** 20);
    expect(judge("qcow2", { "virtual-size": bytes_max, "format-specific": { data: { compat: "1.1" } } }))
      .toBe(bytes_max);
    expect(judge("vmdk", { "format-specific": { data: { extents: [{ filename: "source" }] } } })).toBe(2 ** 20);
  });

  test.each<[string, DiskFormat, object, RegExp]>([
    ["a backing file", "qcow2", { "backing-filename": "/etc/shadow" }, /backing file/],
    ["a resolved backing file", "qcow2", { "full-backing-filename": "/etc/shadow" }, /backing file/],
    ["a data file", "qcow2", { "format-specific": { data: { "data-file": "/etc/shadow" } } }, /another file/],
    ["a raw data file", "qcow2", { "format-specific": { data: { "data-file-raw": true } } }, /another file/],
    ["an extent in another file", "vmdk", {
      "format-specific": { data: { extents: [{ filename: "/etc/passwd" }] } },
    }, /other files/],
    ["two extents", "vmdk", {
      "format-specific": { data: { extents: [{ filename: "source" }, { filename: "source" }] } },
    }, /other files/],
    ["encryption", "qcow2", { encrypted: true }, /encrypted/],
    ["a disk that is larger than declared", "qcow2", { "virtual-size": bytes_max + 1 }, /more than the image's/],
    ["a size of zero", "raw", { "virtual-size": 0 }, /no valid size/],
    ["a size above the safe integers", "raw", { "virtual-size": 2 ** 60 }, /no valid size/],
    ["another format than its first bytes claim", "qcow2", { format: "raw" }, /not a valid qcow2/],
  ])("refuses %s", (_, format, info, reason) => {
    expect(() => judge(format, info)).toThrow(reason);
  });

  test.each<[string, DiskFormat]>([
    ["QFI\xfb\0\0\0\x03", "qcow2"],
    ["KDMV\x01", "vmdk"],
    ["vhdxfile", "vhdx"],
    ["\xeb\x63\x90", "raw"],
    ["", "raw"],
  ])("takes the format from the first bytes: %j is %s", (head, format) => {
    expect(formatOf(Buffer.from(head, "latin1"))).toBe(format);
  });

  test("refuses a VMDK descriptor, which names other files", () => {
    expect(() => formatOf(Buffer.from('# Disk DescriptorFile\nRW 100 FLAT "/etc/passwd" 0'))).toThrow("descriptor");
  });

  test.each([["\x1f\x8b\x08", "gzip"], ["\x28\xb5\x2f\xfd", "zstd"], ["\xfd7zXZ\0", "xz"], ["BZh9", "bzip2"], [
    "QFI\xfb",
    null,
  ]])("takes the compression from the first bytes: %j is %s", (head, compression) => {
    expect(compressionOf(Buffer.from(head, "latin1"))).toBe(compression);
  });
});
