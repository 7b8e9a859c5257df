// The states of an instance (docs/instances.md, "States"). At most one operation at a time changes the state of an
// instance. The cells are in the other files of this folder.
import { conflict, NOT_FOUND } from "../../src/contract/fault.ts";
import { runTable, type Table } from "../engine/table.ts";
import type { Behavior } from "../engine/types.ts";
import { create } from "./creation.ts";
import { changeDisk, createDisk, diskChanged, diskUnchanged, updateDisk } from "./data-disks.ts";
import { evacuate, evacuated, notEvacuable, returned } from "./evacuation.ts";
import { bind, mayMove, unbind } from "./floating-ips.ts";
import { applied, resize } from "./growth.ts";
import { act, failOperation, noteClaim, notHere, settle } from "./lifecycle.ts";
import { createImage, imageEnded } from "./image.ts";
import type { InstanceMessage } from "./messages.ts";
import { migrate, moveTo, notMovable, stay } from "./migration.ts";
import { destroy, forceDelete, notDeletable, nothingLeft, release, unwind } from "./removal.ts";
import { createNic, deleteNic, notStopped, updateNic } from "./nics.ts";
import { bootDiskReplaced, notRebuildable, rebuild, rebuildFailed, rebuilt } from "./rebuild.ts";
import { missed, reported } from "./report.ts";
import type { InstanceState } from "./state.ts";
import { createSnapshot } from "./snapshots.ts";
import { update } from "./update.ts";
import { instanceView } from "./view.ts";

/** Returns a row of the table that has the same cell in every state. */
function everywhere<Cell>(cell: Cell) {
  return { pending: cell, provisioning: cell, running: cell, stopping: cell, stopped: cell, failed: cell };
}

export const instanceTable: Table<InstanceState, InstanceMessage> = {
  create: { absent: create, ...everywhere("instance exists already") },
  update: { absent: "missing", ...everywhere(update) },
  start: { absent: "missing", ...everywhere(notHere), stopped: act },
  stop: { absent: "missing", ...everywhere(notHere), running: act },
  restart: { absent: "missing", ...everywhere(notHere), running: act },
  reset: { absent: "missing", ...everywhere(notHere), running: act },
  retry: { absent: "missing", ...everywhere(notHere), failed: act },
  migrate: { absent: "missing", ...everywhere(notMovable), running: migrate, stopped: migrate },
  migrated: { absent: "ignore", ...everywhere(moveTo) },
  migration_failed: { absent: "ignore", ...everywhere(stay) },
  evacuate: {
    absent: "missing",
    ...everywhere(notEvacuable),
    running: evacuate,
    stopped: evacuate,
    failed: evacuate,
  },
  evacuated: { absent: "ignore", ...everywhere(evacuated) },
  evacuation_failed: { absent: "ignore", ...everywhere(returned) },
  rebuild: {
    absent: "missing",
    ...everywhere(notRebuildable),
    running: rebuild,
    stopped: rebuild,
    failed: rebuild,
  },
  boot_disk_replaced: { absent: "ignore", ...everywhere(bootDiskReplaced) },
  rebuilt: { absent: "ignore", ...everywhere(rebuilt) },
  rebuild_failed: { absent: "ignore", ...everywhere(rebuildFailed) },
  delete: { absent: "missing", ...everywhere(notDeletable), stopped: destroy, failed: destroy },
  force_delete: { absent: "missing", ...everywhere(forceDelete) },
  job_claimed: { absent: "ignore", ...everywhere(noteClaim) },
  settle: { absent: "ignore", ...everywhere(settle) },
  operation_failed: { absent: "ignore", ...everywhere(failOperation) },
  unwinding: { absent: nothingLeft, ...everywhere(unwind) },
  release: { absent: "ignore", ...everywhere(release) },
  resize_disk: { absent: "missing", ...everywhere(resize) },
  disk_applied: { absent: "ignore", ...everywhere(applied) },
  create_disk: { absent: "missing", ...everywhere(createDisk) },
  attach_disk: { absent: "missing", ...everywhere(changeDisk) },
  detach_disk: { absent: "missing", ...everywhere(changeDisk) },
  delete_disk: { absent: "missing", ...everywhere(changeDisk) },
  create_snapshot: { absent: "missing", ...everywhere(createSnapshot) },
  delete_snapshot: { absent: "missing", ...everywhere(changeDisk) },
  create_image: { absent: "missing", ...everywhere(createImage) },
  image_ended: { absent: "ignore", ...everywhere(imageEnded) },
  disk_changed: { absent: "ignore", ...everywhere(diskChanged) },
  disk_unchanged: { absent: "ignore", ...everywhere(diskUnchanged) },
  update_disk: { absent: "missing", ...everywhere(updateDisk) },
  update_snapshot: { absent: "missing", ...everywhere(updateDisk) },
  create_nic: { absent: "missing", ...everywhere(notStopped), stopped: createNic },
  update_nic: { absent: "missing", ...everywhere(updateNic) },
  delete_nic: { absent: "missing", ...everywhere(notStopped), stopped: deleteNic },
  reported: { absent: "ignore", ...everywhere(reported) },
  missed: { absent: "ignore", ...everywhere(missed) },
  floating_ip_bound: { absent: "missing", ...everywhere(bind) },
  floating_ip_moves: { absent: "missing", ...everywhere(mayMove) },
  floating_ip_unbound: { absent: "ignore", ...everywhere(unbind) },
};

export const instance: Behavior<InstanceState, InstanceMessage> = {
  kind: "instance",
  table: "instance",
  key: "id",
  from: "instance_loaded",
  step: (s, m, now) => runTable(instanceTable, s, m, now),
  deadline: () => null,
  view: (s) => instanceView(s),
  constraints: {
    disk_name: conflict("the instance has a disk or snapshot with this name already"),
    instance_name: conflict("instance with name <name> already exists in project <project_id>"),
    instance_project_fkey: NOT_FOUND,
    nic_mac: conflict("the MAC address is in use by another NIC"),
    nic_name: conflict("two NICs of the instance have the same name"),
    nic_ipv4: conflict("the address is in use by another NIC of the subnet"),
    nic_ipv6: conflict("the address is in use by another NIC of the subnet"),
    nic_subnet_fkey: NOT_FOUND,
    pool_exhausted: conflict("the subnet has no free address left"),
  },
};
