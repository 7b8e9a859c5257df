// How QEMU has the disks of a VM: block nodes, and for a data disk a SCSI device, which QEMU can add and remove while the
// guest runs.
import type { VmDisk } from "./vm-record.ts";

/** The SCSI controller of the data disks. A QEMU that an older agent started lacks it. */
export const DATA_CONTROLLER = "data0";
/** Hex digits of a disk's id in the name of its block node. QEMU allows 31 characters in a name. */
const ID_DIGITS = 24;

/** Returns the block nodes of a disk: its file, and the disk in the file. */
export function blockNodes(
  { node, file_node, file }: { readonly node: string; readonly file_node: string; readonly file: string },
) {
  return [
    {
      driver: "file",
      "node-name": file_node,
      filename: file,
      discard: "unmap",
      aio: "threads",
      // Bypasses the node's page cache: a flush of the guest is then on the disk, and memory is not used twice.
      cache: { direct: true, "no-flush": false },
    },
    { driver: "qcow2", "node-name": node, file: file_node, discard: "unmap", "detect-zeroes": "unmap" },
  ] as const;
}

/** Returns the names of a data disk in QEMU. */
export function dataNames(disk_id: string) {
  const digits = disk_id.replaceAll("-", "").slice(-ID_DIGITS);
  return { node: `data-${digits}`, file_node: `file-${digits}`, device: `device-${digits}` } as const;
}

/** Returns the device by which the guest has a data disk. Its serial number is the disk's id. */
export function dataDevice(disk_id: string) {
  const { node, device } = dataNames(disk_id);
  const write_cache = { "write-cache": "on" } as const;
  return { driver: "scsi-hd", id: device, bus: `${DATA_CONTROLLER}.0`, drive: node, serial: disk_id, ...write_cache };
}

/** Returns the part of QEMU's command line for an attached data disk. */
export function dataDiskArgv(disk_id: string, file: string): string[] {
  const { driver, ...properties } = dataDevice(disk_id);
  return [
    ...blockNodes({ ...dataNames(disk_id), file }).flatMap((each) => ["-blockdev", JSON.stringify(each)]),
    "-device",
    [driver, ...Object.entries(properties).map(([name, value]) => `${name}=${value}`)].join(","),
  ];
}

/** Returns whether a disk is a data disk that the guest has. */
export function isAttachedData({ kind, attached }: VmDisk): boolean {
  return kind === "data" && attached !== false;
}
