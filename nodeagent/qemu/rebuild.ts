// Rebuilds a stopped VM: replaces its boot disk with a new disk from another image or from the same image. First the
// agent makes the new files beside the old ones, because this step can fail, for example on a full disk. Then it
// removes the old disk, changes the record, and gives the new files their names. If the rebuild is interrupted after
// the removal, the VM has no boot disk, and starts only after another rebuild.
import { link, rename, rm } from "node:fs/promises";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import type { NewBootDisk } from "../driver.ts";
import { noDisk } from "../no-disk.ts";
import { STILL_RUNS } from "../not-running.ts";
import { renameDurably } from "./durable-rename.ts";
import { placesOf } from "./folders.ts";
import type { Host } from "./host.ts";
import { createUefiVariables, draftDisk, firmwareOf } from "./vm-disks.ts";
import type { VmRecord } from "./vm-record.ts";
import type { VmStore } from "./vm-store.ts";

export type RebuildPorts = { readonly host: Host; readonly store: VmStore };

export async function rebuildVm({ host, store }: RebuildPorts, vm: VmRecord, wanted: NewBootDisk): Promise<void> {
  const { id, size_bytes, image_path, image_sha256 } = wanted;
  if (vm.move) throw new Failure(`VM ${vm.id} is moving to another node`, EXIT.conflict);
  if (vm.power !== "off") throw new Failure(STILL_RUNS, EXIT.conflict);
  if (!vm.disks.some((disk) => disk.id === id && disk.kind === "boot")) throw noDisk(vm.id, id);
  const places = placesOf(host.folders, vm.id);
  const firmware = await firmwareOf(places, image_path);
  if (firmware === "uefi" && host.uefi === null) {
    throw new Failure("the image boots only with UEFI, which this node lacks", EXIT.failure);
  }
  const base = `${places.base}.new`;
  await rm(base, { force: true });
  await link(image_path, base);
  // The new disk refers to base.qcow2, which is the old base until the rename below. qemu-img only checks that this
  // file exists.
  const draft = await draftDisk(places, { id, size_bytes }, { uid: vm.uid, has_base: true });

  await rm(places.disk(id), { force: true });
  const disks = vm.disks.map((disk) => disk.id === id ? { ...disk, size_bytes, image_sha256 } : disk);
  await store.change(vm.id, { disks, firmware });
  await rename(base, places.base);
  // If `base` and `places.base` are links to the same file, the rename keeps both names, so `base` must be removed.
  await rm(base, { force: true });
  await renameDurably(draft, places.disk(id));

  // The old variables name the boot entries of the old disk.
  await rm(places.uefi_variables, { force: true });
  if (firmware === "uefi" && host.uefi !== null) await createUefiVariables(places, host.uefi.variables, vm.uid);
}
