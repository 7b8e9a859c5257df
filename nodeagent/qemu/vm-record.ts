// Defines the record of a VM on this node: vm.json in its folder. After a restart, the agent knows the VM from this
// file and from the running QEMU. The record holds no secret: SSH keys and user data are in the seed volume and in the
// file for the metadata service (folders.ts).
import { join } from "node:path";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import type { MoveRecord } from "../migration/migrations.ts";
import { readPlainFile, writeFileDurably } from "../../cli/internal/private-file.ts";

export type VmDisk = {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly size_bytes: number;
  /** The image of a boot disk; null for a data disk. */
  readonly image_sha256: string | null;
  /** False for a data disk that the guest does not have. Records of an older agent lack the field. */
  readonly attached?: boolean;
  /** The SCSI number of a data disk. Set only while QEMU starts for a guest that arrives; not stored in the record. */
  readonly scsi_id?: number;
};

export type VmNic = {
  readonly id: string;
  readonly name: string;
  readonly mac: string;
  readonly addresses: readonly string[];
  readonly vpc_id: string;
  readonly subnet_id: string;
};

/** The wanted state of the QEMU process. It is on disk before the agent acts. */
export type Power =
  /** QEMU must not run. */
  | "off"
  /** A boot has begun; it is not certain yet that the guest runs. */
  | "starting"
  | "on"
  /** A halt has begun; the guest may still run. */
  | "stopping";

/** How the last run of the guest ended. */
export type End = { readonly state: "stopped" | "failed"; readonly reason: string | null };

export type VmRecord = {
  readonly id: string;
  /** User and group of the QEMU process. No other VM of this node has this id. */
  readonly uid: number;
  readonly name: string;
  readonly brand: string;
  readonly owner_uuid: string;
  readonly cpu: number;
  readonly memory_bytes: number;
  readonly firmware: "bios" | "uefi";
  /** QEMU's machine type. Null, or missing in the record of an older agent: the default of the node's QEMU. */
  readonly machine_type?: string | null;
  readonly disks: readonly VmDisk[];
  readonly nics: readonly VmNic[];
  /** The identity by which the control plane recognizes the VM. */
  readonly internal_metadata: Readonly<Record<string, string>>;
  readonly power: Power;
  /** The id of the boot of the node at the latest of these events: the VM was created, arrived, or was started. */
  readonly boot_id: string;
  /** Null before the first run, and while the guest runs. */
  readonly end: End | null;
  /** Set for a VM that arrives from another node, and for a VM that was sent to another node. */
  readonly move?: MoveRecord | null;
  /** RFC 3339. */
  readonly last_modified: string;
};

const FILE = "vm.json";

/** Reads the record in a VM's folder; null if it does not exist. Throws a Failure if it is damaged. */
export async function readVmRecord(folder: string): Promise<VmRecord | null> {
  const path = join(folder, FILE);
  const text = await readPlainFile(path);
  if (text === null) return null;
  try {
    const saved = JSON.parse(text) as Partial<VmRecord>;
    if (typeof saved.id === "string" && Number.isSafeInteger(saved.uid) && Array.isArray(saved.disks)) {
      return saved as VmRecord;
    }
  } catch {
    // The Failure below reports it.
  }
  throw new Failure(`${path} is damaged; delete the instance, or restore the file from a backup`, EXIT.failure);
}

/** Writes the record. The record is on disk when the promise resolves. */
export async function writeVmRecord(folder: string, record: VmRecord): Promise<void> {
  await writeFileDurably(join(folder, FILE), `${JSON.stringify(record, null, 2)}\n`);
}

/** Returns the SHA-256 of the image of the boot disk. */
export function bootImageOf({ disks }: VmRecord): string | null {
  return disks.find(({ kind }) => kind === "boot")?.image_sha256 ?? null;
}

/** Returns the state that the node reports. A VM that never ran is still provisioning. */
export function reportedState({ power, end }: VmRecord): "provisioning" | "running" | "stopped" | "failed" {
  switch (power) {
    case "on":
    case "stopping":
      return "running";
    case "starting":
    case "off":
      return end?.state ?? "provisioning";
  }
}
