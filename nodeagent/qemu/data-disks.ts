// Creates, attaches and removes the data disks of VMs. The agent first adds the disk to a running QEMU, or removes it.
// Then it records which disks the guest has. A VM that is off gets its attached disks with its next boot.
import { sizeOfFile } from "../../cli/image/part.ts";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import type { DiskSource, NewDisk, Stoppable } from "../driver.ts";
import { ignoreFullDisk } from "../full-disk.ts";
import { noDisk } from "../no-disk.ts";
import { notAnswering } from "../not-running.ts";
import {
  blockNodes,
  closeNodes,
  DATA_CONTROLLER,
  dataDevice,
  dataNames,
  DEVICES,
  isAttachedData,
} from "./block-nodes.ts";
import type { VmPlaces } from "./folders.ts";
import { hasOpen } from "./processes.ts";
import type { Qmp } from "./qmp.ts";
import { copyDisk, copyImage, createDisk, removeDrafted } from "./vm-disks.ts";
import type { VmDisk, VmRecord } from "./vm-record.ts";
import type { VmStore } from "./vm-store.ts";

export type DataDiskPorts = {
  readonly store: VmStore;
  readonly places: (vm_id: string) => VmPlaces;
  /** Returns the monitor of a running VM. */
  readonly qmp: (vm_id: string) => Qmp | undefined;
  /** Returns whether the VM has a QEMU that does not answer. */
  readonly isSilent: (vm: VmRecord) => Promise<boolean>;
};

type DiskCopy = Stoppable & { readonly source: DiskSource };
type Wanted = { readonly disk_id: string; readonly attached: boolean };

/** Returns the operations on data disks. The caller runs one operation at a time for each VM. */
export function dataDisks({ store, places, qmp, isSilent }: DataDiskPorts) {
  function diskOf(vm: VmRecord, disk_id: string): VmDisk {
    const disk = vm.disks.find(({ id, kind }) => id === disk_id && kind === "data");
    if (disk === undefined) throw noDisk(vm.id, disk_id);
    return disk;
  }

  async function record(vm: VmRecord, disk: VmDisk): Promise<void> {
    const others = vm.disks.filter(({ id }) => id !== disk.id);
    await store.change(vm.id, { disks: [...others, disk] });
  }

  async function create(vm: VmRecord, { id, name, size_bytes }: NewDisk, copy: DiskCopy): Promise<void> {
    const disk = { id, name, kind: "data", size_bytes, image_sha256: null, attached: false };
    // The record is written before the file, so that an interrupted creation can be continued or undone.
    if (!vm.disks.some((each) => each.id === id)) await record(vm, disk);
    await createFile(vm, disk, copy);
    await attach(store.get(vm.id)!, id);
  }

  async function createFile(vm: VmRecord, disk: VmDisk, { source, signal }: DiskCopy): Promise<void> {
    const { disk: fileOf } = places(vm.id);
    const to = fileOf(disk.id);
    if (source === null) return await createDisk(places(vm.id), disk, { uid: vm.uid, has_base: false });
    // A file gets its name when it is complete. So an existing file is the whole copy.
    if (await sizeOfFile(to) !== null) return;
    if ("image_path" in source) await copyImage({ from: source.image_path, to, uid: vm.uid, signal }, disk.size_bytes);
    else await copyDisk({ from: fileOf(diskOf(vm, source.disk_id).id), to, uid: vm.uid, signal }, disk.size_bytes);
  }

  const attach = (vm: VmRecord, disk_id: string) =>
    change(vm, { disk_id, attached: true }, (qmp) => plug(qmp, disk_id, places(vm.id).disk(disk_id)));

  const detach = (vm: VmRecord, disk_id: string) =>
    change(vm, { disk_id, attached: false }, (qmp) => unplug(qmp, disk_id));

  /** Changes whether a guest has a disk. Throws a Failure if the change needs a QEMU that does not answer. */
  async function change(vm: VmRecord, { disk_id, attached }: Wanted, inQemu: (qmp: Qmp) => Promise<void>) {
    const disk = diskOf(vm, disk_id);
    if (await isSilent(vm)) {
      // If the record already has the wanted state, no change is needed. So the undo of a refused change succeeds at
      // once.
      if (isAttachedData(disk) === attached) return;
      throw notAnswering();
    }
    const monitor = qmp(vm.id);
    if (monitor !== undefined) await inQemu(monitor);
    await record(vm, { ...disk, attached });
  }

  async function remove(vm: VmRecord, disk_id: string): Promise<void> {
    if (!vm.disks.some(({ id }) => id === disk_id)) return;
    await detach(vm, disk_id).catch(ignoreFullDisk);
    const file = places(vm.id).disk(disk_id);
    // The guest may have a disk that is recorded as detached, for example if the agent was killed before it recorded an
    // attach.
    if (await hasOpen(vm, file)) throw notAnswering();
    await removeDrafted(file);
    await store.change(vm.id, { disks: vm.disks.filter(({ id }) => id !== disk_id) });
  }

  return { create, attach, detach, remove };
}

/** Adds a disk to a running guest, if the guest does not have it. */
async function plug(qmp: Qmp, disk_id: string, file: string): Promise<void> {
  const { device, node, file_node } = dataNames(disk_id);
  const devices = await qmp.execute("qom-list", { path: DEVICES });
  if (devices.some(({ name }) => name === device)) return;
  if (!devices.some(({ name }) => name === DATA_CONTROLLER)) {
    throw new Failure(
      "the machine was started by an older node agent; stop and start the instance first",
      EXIT.failure,
    );
  }
  // An interrupted call may have left the block nodes.
  await closeNodes(qmp, [node, file_node]);
  for (const each of blockNodes({ node, file_node, file })) await qmp.execute("blockdev-add", each);
  await qmp.execute("device_add", dataDevice(disk_id));
}

/** Removes a disk from a running guest. */
async function unplug(qmp: Qmp, disk_id: string): Promise<void> {
  const { device, node, file_node } = dataNames(disk_id);
  const devices = await qmp.execute("qom-list", { path: DEVICES });
  if (devices.some(({ name }) => name === device)) await qmp.execute("device_del", { id: device });
  await closeNodes(qmp, [node, file_node]);
}
