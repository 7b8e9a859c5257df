// Makes snapshots of a VM's disks. A snapshot is a complete file beside the disks. In the node's record, a snapshot is
// a data disk that the guest does not have. If the guest uses the disk, QEMU makes the copy. Before the guest
// overwrites a block that is not copied yet, QEMU copies the block's old content. So the copy has the content of one
// moment.
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import type { SnapshotConsistency } from "../../src/contract/enums.ts";
import type { NewDisk, Stoppable } from "../driver.ts";
import { noDisk } from "../no-disk.ts";
import { notAnswering } from "../not-running.ts";
import { blockNode, blockNodes, closeNodes, dataNames, isAttachedData } from "./block-nodes.ts";
import type { DataDiskPorts } from "./data-disks.ts";
import { COPY_CHECK_MS, copyDraft, copyJob, endCopy, mayThaw } from "./disk-copies.ts";
import { renameDurably } from "./durable-rename.ts";
import { guestAgentAt } from "./guest-agent.ts";
import type { Host } from "./host.ts";
import type { Qmp } from "./qmp.ts";
import { copyDisk, createDisk, exportDisk, removeDrafted } from "./vm-disks.ts";
import type { VmDisk, VmRecord } from "./vm-record.ts";

/** Maximum number of attempts to thaw the guest, and the pause between two attempts. */
const THAW_TRIES_MAX = 5;
const THAW_PAUSE_MS = 1_000;

type SnapshotPorts = DataDiskPorts & Pick<Host, "log" | "signal">;
type Making = Stoppable & { readonly qmp: Qmp; readonly source: VmDisk; readonly snapshot: VmDisk };

/** Returns the operations on snapshots. The caller runs one operation at a time for each VM. */
export function snapshots({ store, places, qmp, isSilent, log, signal: agent_signal }: SnapshotPorts) {
  const agentOf = (vm: VmRecord) => guestAgentAt(places(vm.id).socket("qga"));
  const portsOf = (vm: VmRecord, qmp: Qmp) => ({ qmp, places: places(vm.id), signal: agent_signal });

  async function create(
    vm: VmRecord,
    { id, name, size_bytes }: NewDisk,
    { source_disk_id, signal }: Stoppable & { readonly source_disk_id: string },
  ): Promise<SnapshotConsistency> {
    const source = vm.disks.find((disk) => disk.id === source_disk_id);
    if (source === undefined) throw noDisk(vm.id, source_disk_id);
    if (isUsed(source) && await isSilent(vm)) throw notAnswering();
    const snapshot = { id, name, kind: "data", size_bytes, image_sha256: null, attached: false };
    const others = vm.disks.filter((disk) => disk.id !== id);
    // The record is written before the file, so that an interrupted copy can be repeated or removed.
    await store.change(vm.id, { disks: [...others, snapshot] });
    const to = places(vm.id).disk(id);
    // An interrupted job may have left a complete file. Its consistency is unknown, so the disk is copied again.
    await rm(to, { force: true });
    const monitor = isUsed(source) ? qmp(vm.id) : undefined;
    if (monitor !== undefined) return await copyUsed(vm, { qmp: monitor, source, snapshot, signal });
    await copyDisk({ from: places(vm.id).disk(source.id), to, uid: vm.uid, signal }, size_bytes);
    return "at_rest";
  }

  /** Copies a disk that QEMU has open. The guest waits only until QEMU has begun to copy. */
  async function copyUsed(vm: VmRecord, { qmp, source, snapshot, signal }: Making): Promise<SnapshotConsistency> {
    await endCopy(portsOf(vm, qmp), snapshot.id);
    const to = places(vm.id).disk(snapshot.id);
    const draft = copyDraft(places(vm.id), snapshot.id);
    // QEMU copies only between disks of the same size.
    const empty = { id: snapshot.id, size_bytes: source.size_bytes };
    await createDisk({ ...places(vm.id), disk: () => draft }, empty, { uid: vm.uid, has_base: false });
    const { node, file_node } = dataNames(snapshot.id);
    for (const each of blockNodes({ node, file_node, file: draft })) await qmp.execute("blockdev-add", each);
    const is_frozen = await freeze(vm);
    try {
      const device = deviceNode(vm, source);
      const copy = { device, target: node, sync: "full", "auto-dismiss": false } as const;
      await qmp.execute("blockdev-backup", { "job-id": copyJob(snapshot.id), ...copy });
    } finally {
      if (is_frozen) await thaw(vm);
    }
    await untilCopied(qmp, snapshot.id, signal);
    await closeNodes(qmp, [node, file_node]);
    await renameDurably(draft, to);
    return is_frozen ? "frozen" : "crash";
  }

  /**
   * Freezes the guest's file systems. Returns false if the guest has no agent, the agent froze nothing, or the attempt
   * failed.
   */
  async function freeze(vm: VmRecord): Promise<boolean> {
    if (!await mayThaw(places(vm.id))) return false;
    try {
      return await agentOf(vm).freeze() > 0;
    } catch (error) {
      log(`VM ${vm.id}: its file systems could not be frozen: ${(error as Error).message}`);
      // The guest may still freeze after the time limit, so it is thawed in any case.
      await thaw(vm);
      return false;
    }
  }

  async function thaw(vm: VmRecord): Promise<void> {
    for (let tries = 1; tries <= THAW_TRIES_MAX; tries += 1) {
      const error = await agentOf(vm).thaw().then(() => null, (error) => error as Error);
      if (error === null) return;
      log(`VM ${vm.id}: its file systems could not be thawed: ${error.message}`);
      await sleep(THAW_PAUSE_MS);
    }
  }

  async function remove(vm: VmRecord, snapshot_id: string): Promise<void> {
    const monitor = qmp(vm.id);
    const known = vm.disks.find(({ id }) => id === snapshot_id);
    if (monitor !== undefined) {
      await mayThaw(places(vm.id));
      await endCopy(portsOf(vm, monitor), snapshot_id);
    }
    await removeDrafted(places(vm.id).disk(snapshot_id));
    await removeDrafted(copyDraft(places(vm.id), snapshot_id));
    await removeExport(vm.id, snapshot_id);
    if (known !== undefined) await store.change(vm.id, { disks: vm.disks.filter(({ id }) => id !== snapshot_id) });
  }

  /** Writes a snapshot as the file of an image. QEMU never has a snapshot open, so a program can read it. */
  async function exportFile(vm: VmRecord, snapshot_id: string, { signal }: Stoppable): Promise<string> {
    if (!vm.disks.some(({ id }) => id === snapshot_id)) throw noDisk(vm.id, snapshot_id);
    const from = places(vm.id).disk(snapshot_id);
    const to = exportOf(vm.id, snapshot_id);
    await exportDisk({ from, to, uid: vm.uid, signal });
    return to;
  }

  async function removeExport(instance_id: string, snapshot_id: string): Promise<void> {
    await removeDrafted(exportOf(instance_id, snapshot_id));
  }

  function exportOf(instance_id: string, snapshot_id: string): string {
    return `${places(instance_id).disk(snapshot_id)}.image`;
  }

  return { create, remove, exportFile, removeExport };
}

/** Waits until the copy is complete. Throws a Failure if it failed. */
async function untilCopied(qmp: Qmp, snapshot_id: string, signal: AbortSignal): Promise<void> {
  const id = copyJob(snapshot_id);
  for (;;) {
    signal.throwIfAborted();
    const job = (await qmp.execute("query-jobs")).find((each) => each.id === id);
    if (job === undefined) throw new Failure("the copy of the disk was cancelled", EXIT.failure);
    if (job.status === "concluded") {
      await qmp.execute("job-dismiss", { id });
      if (job.error === undefined) return;
      throw new Failure(`the disk could not be copied: ${job.error}`, EXIT.failure);
    }
    await sleep(COPY_CHECK_MS, undefined, { signal });
  }
}

/** Returns whether the guest has the disk whenever it runs. */
function isUsed(disk: VmDisk): boolean {
  return disk.kind !== "data" || isAttachedData(disk);
}

function deviceNode(vm: VmRecord, disk: VmDisk): string {
  if (disk.kind === "data") return dataNames(disk.id).node;
  return blockNode(vm.disks.filter(({ kind }) => kind !== "data").findIndex(({ id }) => id === disk.id));
}
