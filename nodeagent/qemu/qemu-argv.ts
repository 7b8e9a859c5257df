// Builds the command line of QEMU for a VM.
import { blockNode, blockNodes, DATA_CONTROLLER, dataDiskArgv, isAttachedData } from "./block-nodes.ts";
import type { VmPlaces } from "./folders.ts";
import { tapName } from "./tap-name.ts";
import type { VmNic, VmRecord } from "./vm-record.ts";

export type Accelerator = "kvm" | "tcg";

/** Files of the UEFI firmware. */
export type UefiFirmware = { readonly code: string; readonly variables: string };

export type ArgvOptions = {
  readonly program: string;
  readonly accelerator: Accelerator;
  readonly places: VmPlaces;
  /** Needed for VMs with the firmware `uefi`. */
  readonly uefi: UefiFirmware | null;
};

const MIB = 2 ** 20;
/** Memory for the code that TCG has translated, per VM. QEMU's default is a quarter of the node's memory. */
const TRANSLATION_CACHE_MIB = 64;
/** Characters of a serial number of a virtio disk. */
const SERIAL_CHARS_MAX = 20;
/** Maximum number of NICs on the root bus. Of its 32 slots, the chipset uses 2 and the other devices of a VM use 8. */
const ROOT_BUS_NICS_MAX = 22;
const NIC_BRIDGE = "nic-bridge";

/** Returns the command line of a VM. The guest waits for `cont` (-S), so that its network can be prepared first. */
export function qemuArgv(vm: VmRecord, { program, accelerator, places, uefi }: ArgvOptions): string[] {
  const socket = (id: string, name: Parameters<VmPlaces["socket"]>[0]) =>
    `socket,id=${id},path=${places.socket(name)},server=on,wait=off`;
  return [
    program,
    // The VM has only the devices below, and QEMU reads no configuration file.
    "-nodefaults",
    "-no-user-config",
    "-name",
    `guest=${vm.id},debug-threads=on`,
    "-uuid",
    vm.id,
    "-machine",
    `${vm.machine_type ?? "q35"},usb=off,vmport=off,dump-guest-core=off`,
    "-accel",
    accelerator === "kvm" ? "kvm" : `tcg,thread=multi,tb-size=${TRANSLATION_CACHE_MIB}`,
    "-cpu",
    accelerator === "kvm" ? "host" : "max",
    "-smp",
    `${vm.cpu},sockets=1,cores=${vm.cpu},threads=1`,
    "-m",
    `size=${Math.max(1, Math.floor(vm.memory_bytes / MIB))}M`,
    "-rtc",
    "base=utc,driftfix=slew",
    // After a power-off or a panic QEMU waits until the agent has read the reason.
    "-no-shutdown",
    "-action",
    "panic=pause,reboot=reset",
    "-device",
    "pvpanic-pci",
    "-sandbox",
    "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
    "-object",
    "rng-random,id=rng0,filename=/dev/urandom",
    "-device",
    "virtio-rng-pci,rng=rng0,max-bytes=1024,period=1000",
    "-device",
    "virtio-balloon-pci,id=balloon0,free-page-reporting=on",
    ...vm.firmware === "uefi" ? firmwareArgv(uefi, places) : [],
    ...vm.disks.filter(({ kind }) => kind !== "data").flatMap((disk, index) =>
      diskArgv({ node: blockNode(index), file: places.disk(disk.id), serial: serialOf(disk.id), index })
    ),
    ...seedArgv(places.seed),
    ...nicsArgv(vm.nics),
    "-chardev",
    socket("console0", "console"),
    "-serial",
    "chardev:console0",
    "-chardev",
    socket("guest-agent0", "qga"),
    "-device",
    "virtio-serial-pci",
    "-device",
    "virtserialport,chardev=guest-agent0,name=org.qemu.guest_agent.0",
    "-chardev",
    socket("monitor0", "qmp"),
    "-mon",
    "chardev=monitor0,mode=control",
    "-device",
    "VGA,vgamem_mb=16",
    "-vnc",
    `unix:${places.socket("vnc")}`,
    // This device comes last, so that the addresses of the other devices do not depend on it.
    "-device",
    `virtio-scsi-pci,id=${DATA_CONTROLLER}`,
    ...vm.disks.filter(isAttachedData).flatMap((disk) => dataDiskArgv(disk, places.disk(disk.id))),
    "-S",
  ];
}

type Drive = { readonly node: string; readonly file: string; readonly serial: string; readonly index: number };

function diskArgv({ node, file, serial, index }: Drive): string[] {
  return [
    ...blockNodes({ node, file_node: `${node}-file`, file }).flatMap((each) => ["-blockdev", JSON.stringify(each)]),
    "-device",
    `virtio-blk-pci,drive=${node},id=${node}-device,serial=${serial},write-cache=on,bootindex=${index}`,
  ];
}

function seedArgv(file: string): string[] {
  const read_only = { "read-only": true, "auto-read-only": false };
  return [
    "-blockdev",
    JSON.stringify({ driver: "file", "node-name": "seed-file", filename: file, ...read_only }),
    "-blockdev",
    JSON.stringify({ driver: "raw", "node-name": "seed", file: "seed-file", ...read_only }),
    "-device",
    "virtio-blk-pci,drive=seed,id=seed-device,serial=cidata",
  ];
}

/**
 * Returns the arguments for the NICs. If the root bus has too few slots, the last NICs are on a bridge, which also uses
 * a slot.
 */
function nicsArgv(nics: readonly VmNic[]): string[] {
  const on_root = nics.length <= ROOT_BUS_NICS_MAX ? nics.length : ROOT_BUS_NICS_MAX - 1;
  return nics.flatMap(({ mac }, index) => [
    ...index === on_root ? ["-device", `pcie-pci-bridge,id=${NIC_BRIDGE}`] : [],
    "-netdev",
    `tap,id=nic${index},ifname=${tapName(mac)},script=no,downscript=no,vhost=off`,
    "-device",
    `virtio-net-pci,netdev=nic${index},id=nic${index}-device,mac=${mac},romfile=` +
    (index < on_root ? "" : `,bus=${NIC_BRIDGE}`),
  ]);
}

function firmwareArgv(uefi: UefiFirmware | null, places: VmPlaces): string[] {
  if (uefi === null) throw new Error("UEFI firmware is missing");
  const flash = (unit: number, file: string, read_only: boolean) => [
    "-drive",
    `if=pflash,format=raw,unit=${unit},file=${file},readonly=${read_only ? "on" : "off"}`,
  ];
  return [...flash(0, uefi.code, true), ...flash(1, places.uefi_variables, false)];
}

function serialOf(disk_id: string): string {
  return disk_id.replaceAll("-", "").slice(0, SERIAL_CHARS_MAX);
}
