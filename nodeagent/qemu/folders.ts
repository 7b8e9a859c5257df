// Defines the paths of the VMs' folders and files. A VM's folder on disk belongs to root and to the VM's group. So QEMU
// can open the files of its own VM, but cannot list the folder or reach the files of another VM. The VM's run folder
// holds the sockets.
import { join } from "node:path";

export type Folders = {
  /** Folder of disks and images, on one file system. */
  readonly machine_dir: string;
  /** Folder of sockets, empty after a boot of the node. */
  readonly run_dir: string;
};

export const MACHINE_DIR = "/var/lib/berth";
export const RUN_DIR = "/run/berth";

/** The longest socket path on Linux, in bytes, without the final zero byte. */
export const SOCKET_PATH_BYTES_MAX = 107;

/** The sockets of a VM: QEMU's monitor, serial console, screen and guest agent. */
export type SocketName = "qmp" | "console" | "vnc" | "qga" | MoveSocketName;
/** The sockets for the memory and the disks of a VM that moves. */
export type MoveSocketName = "ram" | "nbd";

export type VmPlaces = {
  readonly folder: string;
  readonly base: string;
  readonly seed: string;
  /** JSON of the seed volume's files, for the metadata service. Only root can read it. */
  readonly guest_files: string;
  readonly uefi_variables: string;
  readonly run_folder: string;
  /** Folder in which QEMU may create files: screenshots. */
  readonly output_folder: string;
  disk(disk_id: string): string;
  socket(name: SocketName): string;
};

export function imageFolder({ machine_dir }: Pick<Folders, "machine_dir">): string {
  return join(machine_dir, "images");
}

export function vmsFolder({ machine_dir }: Pick<Folders, "machine_dir">): string {
  return join(machine_dir, "vm");
}

/** Returns the places of a VM's files. `id` must be a UUID, because it becomes part of paths. */
export function placesOf(folders: Folders, id: string): VmPlaces {
  if (!/^[0-9a-f-]{36}$/.test(id)) throw new Error(`${id} is not the id of an instance`);
  const folder = join(vmsFolder(folders), id);
  const run_folder = join(folders.run_dir, "vm", id);
  return {
    folder,
    base: join(folder, "base.qcow2"),
    seed: join(folder, "seed.img"),
    guest_files: join(folder, "guest-files.json"),
    uefi_variables: join(folder, "uefi-variables.fd"),
    run_folder,
    output_folder: join(run_folder, "out"),
    disk: (disk_id) => join(folder, `disk-${disk_id}.qcow2`),
    socket: (name) => join(run_folder, `${name}.sock`),
  };
}
