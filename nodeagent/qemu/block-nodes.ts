// Describes the disks that QEMU has open for a VM. Each disk has block nodes. A data disk also has a SCSI device, which
// QEMU can add and remove while the guest runs.
import { setTimeout as sleep } from "node:timers/promises";
import { type Qmp, QmpError } from "./qmp.ts";
import type { VmDisk } from "./vm-record.ts";

/** The SCSI controller of the data disks. A QEMU that an older agent started lacks it. */
export const DATA_CONTROLLER = "data0";
/** The folder in QEMU's object tree with the devices that have a name. */
export const DEVICES = "/machine/peripheral";
/** Time that QEMU has to finish the last operations of a removed disk, and the pause between two attempts. */
const RELEASE_LIMIT_MS = 30_000;
const RELEASE_PAUSE_MS = 50;
/** Hex digits of a disk's id in the name of its block node. QEMU allows 31 characters in a name. */
const ID_DIGITS = 24;

/** The name of a boot disk's block node. QEMU allows 31 characters in a name, and a disk's id has 36. */
export function blockNode(index: number): string {
  return `disk${index}`;
}

/** A disk that QEMU has open, and its block node. */
export type OpenDisk = { readonly id: string; readonly node: string };

/** Lists the disks that the guest has. The source and the target of a migration give the block nodes the same names. */
export function openDisks(disks: readonly VmDisk[]): OpenDisk[] {
  return [
    ...disks.filter(({ kind }) => kind !== "data").map(({ id }, index) => ({ id, node: blockNode(index) })),
    ...disks.filter(isAttachedData).map(({ id }) => ({ id, node: dataNames(id).node })),
  ];
}

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
      // Bypasses the machine's page cache, so that memory is not used twice. A flush of the guest flushes the disk.
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

/**
 * Returns the device through which the guest uses a data disk. The device's serial number is the disk's id. If the disk
 * has no SCSI number, QEMU takes the first free number.
 */
export function dataDevice(disk_id: string, scsi_id?: number) {
  const { node, device } = dataNames(disk_id);
  return {
    driver: "scsi-hd",
    id: device,
    bus: `${DATA_CONTROLLER}.0`,
    drive: node,
    serial: disk_id,
    "write-cache": "on",
    ...scsi_id !== undefined && { "scsi-id": scsi_id },
  } as const;
}

/** Returns the part of QEMU's command line for an attached data disk. */
export function dataDiskArgv({ id, scsi_id }: Pick<VmDisk, "id" | "scsi_id">, file: string): string[] {
  const { driver, ...properties } = dataDevice(id, scsi_id);
  return [
    ...blockNodes({ ...dataNames(id), file }).flatMap((each) => ["-blockdev", JSON.stringify(each)]),
    "-device",
    [driver, ...Object.entries(properties).map(([name, value]) => `${name}=${value}`)].join(","),
  ];
}

/** Returns whether a disk is a data disk that the guest has. */
export function isAttachedData({ kind, attached }: VmDisk): boolean {
  return kind === "data" && attached !== false;
}

/** Closes block nodes that exist. QEMU refuses to close a node until the operations of its device have ended. */
export async function closeNodes(qmp: Qmp, nodes: readonly string[]): Promise<void> {
  const end_ms = performance.now() + RELEASE_LIMIT_MS;
  for (const node of nodes) {
    for (let closed = false; !closed;) {
      const open = await qmp.execute("query-named-block-nodes", { flat: true });
      if (!open.some((each) => each["node-name"] === node)) break;
      closed = await qmp.execute("blockdev-del", { "node-name": node }).then(() => true, (error) => {
        if (!(error instanceof QmpError) || performance.now() > end_ms) throw error;
        return false;
      });
      if (!closed) await sleep(RELEASE_PAUSE_MS);
    }
  }
}

/**
 * Reads the SCSI numbers of the data disks. A guest that moves keeps these numbers, even if disks were added or removed
 * while it ran.
 */
export async function scsiIds(qmp: Qmp, disks: readonly VmDisk[]): Promise<Readonly<Record<string, number>>> {
  const found = await Promise.all(
    disks.filter(isAttachedData).map(async ({ id }) => {
      const path = `${DEVICES}/${dataNames(id).device}`;
      return [id, await qmp.execute("qom-get", { path, property: "scsi-id" }) as number] as const;
    }),
  );
  return Object.fromEntries(found);
}

/** Gives data disks the SCSI numbers that the other node sent. */
export function withScsiIds(disks: readonly VmDisk[], given: unknown): VmDisk[] {
  const ids = typeof given === "object" && given !== null ? given as Readonly<Record<string, unknown>> : {};
  return disks.map((disk) => {
    const scsi_id = ids[disk.id];
    return Number.isSafeInteger(scsi_id) ? { ...disk, scsi_id: scsi_id as number } : disk;
  });
}
