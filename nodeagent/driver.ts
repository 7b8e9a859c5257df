// Defines the interface between the agent and the machine. A driver implements this interface for one kind of host.
import type { CapacityReportBody, Registration } from "../src/contract/agent.ts";
import type { SnapshotConsistency } from "../src/contract/enums.ts";
import type { MachineMetrics } from "../src/contract/instance-metrics.ts";
import type { Blueprint } from "../src/contract/job.ts";
import type { Migrations, MoveRecord } from "./migration/migrations.ts";
import type { NodeNetwork } from "./network/node-network.ts";

export type Hardware = {
  readonly server_uuid: string;
  readonly hostname: string;
  readonly admin_ip: string | null;
  readonly sysinfo: Registration["sysinfo"];
  /** IPv4 address on the network that carries the packets of VPCs between nodes. */
  readonly underlay_address?: string;
  /** In bytes. */
  readonly underlay_mtu?: number;
};

/** The memory reservoir. `percent` is a fraction of physical memory, from 0 to 1. */
export type Reservoir = { readonly enabled: boolean; readonly percent: number };

/** The description of a VM to create. */
export type VmPlan = Blueprint & {
  readonly instance: NonNullable<Blueprint["instance"]>;
  /** Path of the image's file, whose SHA-256 was verified. */
  readonly image_path: string;
};

/** The NICs of a VM with their subnets. */
export type NicsPlan = Pick<Blueprint, "nics" | "subnets">;
export type NewNic = { readonly id: string; readonly vpc_id: string };

/** A floating IP that is bound to a NIC of this node. The binding with the highest generation is current. */
export type AddressBinding = {
  readonly floating_ip_id: string;
  readonly fip_addr: string;
  readonly nic_id: string | null;
  readonly external_nic_tag: string | null;
  readonly vlan_id: number | null;
  readonly generation: number;
};

/** Selects the bindings to release. Null matches any NIC, or any generation. */
export type AddressRelease = {
  readonly floating_ip_id: string;
  readonly nic_id: string | null;
  /** The highest generation to release. A newer binding stays. */
  readonly generation: number | null;
};

/** A data disk or snapshot to create. */
export type NewDisk = { readonly id: string; readonly name: string; readonly size_bytes: number };

/** The new boot disk of a rebuild. It replaces the VM's boot disk and gets the same id. */
export type NewBootDisk = {
  readonly id: string;
  readonly size_bytes: number;
  readonly image_sha256: string;
  /** Path of the image's file, whose SHA-256 was verified. */
  readonly image_path: string;
};

/** The source of a new data disk: a snapshot of the VM, or the verified file of an image. Null for an empty disk. */
export type DiskSource = { readonly disk_id: string } | { readonly image_path: string } | null;

/** Work that takes long. If the signal is aborted, the work throws soon. Its unfinished files may be removed later. */
export type Stoppable = { readonly signal: AbortSignal };

/**
 * Operations on VMs. Each operation except `reset` is idempotent, and its result is durable when the operation returns.
 */
export type Vms = {
  /** @param move set for a VM that arrives from another node */
  createDisks(plan: VmPlan, move?: MoveRecord): Promise<void>;
  createNics(plan: VmPlan): Promise<void>;
  create(plan: VmPlan): Promise<void>;
  /**
   * Boots the VM. If the VM's process runs but does not answer, its guest may run: then waits for an answer or the end
   * of the process, until `signal` aborts.
   */
  boot(instance_id: string, signal?: AbortSignal): Promise<void>;
  /** Records the size of a VM that is off. The next boot of the VM uses the new size. A running VM keeps its size. */
  setSize(instance_id: string, size: { readonly cpu: number; readonly memory_bytes: number }): Promise<void>;
  /** Returns the NICs that `setNics` would add. */
  newNics(instance_id: string, plan: NicsPlan): readonly NewNic[];
  /**
   * Records the NICs of a VM that is off. The next boot of the VM uses them. Call it after the network documents of the
   * new NICs' VPCs were applied.
   */
  setNics(instance_id: string, plan: NicsPlan): Promise<void>;
  halt(instance_id: string): Promise<void>;
  /** Presses the reset button. Throws a Failure if the VM does not run. */
  reset(instance_id: string): Promise<void>;
  /** Removes the VM with its disks, NICs and their bound addresses. */
  destroy(instance_id: string): Promise<void>;
  /** Grows a disk and returns its new size in bytes. */
  resize(instance_id: string, disk: { readonly id: string; readonly size_bytes: number }): Promise<number>;
  /** Replaces the boot disk of a stopped VM by a new disk from an image. */
  rebuild(instance_id: string, disk: NewBootDisk): Promise<void>;
  /** Creates a data disk and attaches it. */
  createDisk(instance_id: string, disk: NewDisk, copy: Stoppable & { readonly source: DiskSource }): Promise<void>;
  /** Attaches a data disk to the guest, at once if the guest runs. */
  attachDisk(instance_id: string, disk_id: string): Promise<void>;
  /** Detaches a data disk from the guest, at once if the guest runs. The disk keeps its data. */
  detachDisk(instance_id: string, disk_id: string): Promise<void>;
  /** Detaches a data disk from the guest and removes the disk. Does nothing if the disk or the VM does not exist. */
  deleteDisk(instance_id: string, disk_id: string): Promise<void>;
  /**
   * Copies the content that a disk has at one moment; the guest may run meanwhile. Returns how consistent the copy is.
   */
  createSnapshot(
    instance_id: string,
    snapshot: NewDisk,
    copy: Stoppable & { readonly source_disk_id: string },
  ): Promise<SnapshotConsistency>;
  /** Ends an unfinished copy, and removes the snapshot. Does nothing if the snapshot or the VM does not exist. */
  deleteSnapshot(instance_id: string, snapshot_id: string): Promise<void>;
  /**
   * Writes a snapshot to the file of an image, and returns the file's path. The file does not depend on other files. An
   * existing file is kept.
   */
  exportSnapshot(instance_id: string, snapshot_id: string, copy: Stoppable): Promise<string>;
  /** Removes the file of an image. Does nothing if the file does not exist. */
  deleteExport(instance_id: string, snapshot_id: string): Promise<void>;
  bindAddress(binding: AddressBinding): Promise<void>;
  releaseAddress(release: AddressRelease): Promise<void>;
  hasNic(nic_id: string): boolean;
  /** Returns true if a disk depends on this image, so that the image's file must stay. */
  usesImage(sha256: string): boolean;
  /** Returns the ids of a VM's disks and their sizes in bytes. */
  disksOf(instance_id: string): readonly { readonly id: string; readonly size_bytes: number }[];
};

/** The serial console of a VM. The driver keeps its last bytes in memory. Older output is lost. */
export type VmConsole = {
  /** Returns the last bytes that the VM wrote, at most CONSOLE_LOG_BYTES_MAX, oldest byte first. */
  ring(): Uint8Array;
  /** Calls the listener with each further output. Returns a function that ends the subscription. */
  subscribe(listener: (bytes: Uint8Array) => void): () => void;
  /**
   * Types bytes into the console. Resolves when the VM has taken the bytes, or when the console has closed. This takes
   * long if the guest does not read its serial port.
   */
  write(bytes: Uint8Array): Promise<void>;
};

/** Describes how a machine stores images. */
export type ImageStorage = {
  /** Folder of the cache. */
  readonly folder: string;
  /**
   * Converts a verified image to the form that VMs use, and writes the result to `target`. The file appears only when
   * it is complete. The source stays, so the disk needs space for both files.
   */
  prepare(source: string, target: string, options: Preparing): Promise<void>;
};

export type Preparing = Stoppable & {
  /** Largest size of the disk in the image. */
  readonly bytes_max: number;
  /** Frees space for further bytes in the folder of the cache. Throws a Failure if there is not enough space. */
  readonly makeRoom: (bytes: number) => Promise<void>;
};

export type Driver = {
  hardware(): Promise<Hardware>;
  /** Returns the machine's status without a timestamp, so that an unchanged machine returns equal values. */
  status(): Promise<Readonly<Record<string, unknown>>>;
  capacity(): Promise<CapacityReportBody>;
  /** Returns the counters of the running VMs, by their ids. Omits a VM whose counters cannot be read now. */
  metrics(): Promise<Readonly<Record<string, MachineMetrics>>>;
  applyReservoir(reservoir: Reservoir): Promise<void>;
  /**
   * Replaces the keys of root that came from the control plane. Keys that an administrator wrote stay. Each key is a
   * valid OpenSSH public key of one line.
   */
  applyRootKeys(keys: readonly string[]): Promise<void>;
  readonly vms: Vms;
  readonly migrations: Migrations;
  /** The networks of the VMs. */
  readonly network: NodeNetwork;
  /** Null if VMs use images as they are. Then the cache is in the agent's state directory. */
  readonly images: ImageStorage | null;
  /**
   * Returns the serial console of a VM's last run, even after the end of the run. Returns undefined if the VM does not
   * exist, or did not run since the agent started.
   */
  console(instance_id: string): VmConsole | undefined;
  /** Returns the screen of a VM as PNG. Throws a Failure if the VM does not run, or its screen cannot be read. */
  screenshot(instance_id: string): Promise<Uint8Array>;
  /**
   * Restarts the machine some seconds later, so that the agent can first report the end of the job that called this.
   * Does nothing if the machine has restarted since the boot `boot_id`. Throws a Failure if VMs run.
   * @param platform_image the platform image that the machine boots next; a real machine gets it from its booter
   */
  reboot(boot_id: string, platform_image: string): Promise<void>;
  /**
   * Called before each step of a job, with `KIND:STEP`. A simulated machine then injects delays, failures and power
   * loss.
   */
  beforeStep(step: string, signal: AbortSignal): Promise<void>;
};
