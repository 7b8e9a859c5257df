// The rebuild of an instance: its node replaces the boot disk with a new disk from an image. The instance keeps its id,
// NICs, addresses, data disks and snapshots. Until the node has replaced the disk, the instance refers to the earlier
// image, and its boot disk refers to the new image. So neither image can be deleted (docs/instances.md, "Rebuild").
import { conflict, NOT_FOUND } from "../../src/contract/fault.ts";
import { go, guard, lock, refuse, upsert } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Out } from "../engine/types.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { underWay } from "./growth.ts";
import { noted, occupied, stays } from "./lifecycle.ts";
import type { InstanceMessage } from "./messages.ts";
import { begin, INSTANCE_REBUILD, type InstanceRebuildParams } from "./operation.ts";
import { protectedFault } from "./removal.ts";
import { type DiskRow, IDLE, type InstanceState, type On } from "./state.ts";
import { instanceView } from "./view.ts";

type Msg<T extends InstanceMessage["type"]> = Of<InstanceMessage, T>;
type AtRest = On<"running"> | On<"stopped"> | On<"failed">;

/**
 * The state while the operation runs. Usage counts the vCPUs in the state `stopping`, but not in `pending`. So the
 * usage of an instance that was running includes its vCPUs during the rebuild.
 */
const THROUGH = { running: "stopping", stopped: "pending", failed: "pending" } as const;

/** Refuses the rebuild of an instance that is pending, provisioning or stopping. */
export function notRebuildable(s: InstanceState): Out<InstanceState> {
  return refuse(
    occupied(s) ?? conflict(`${s.name} is ${s.state}; a rebuild needs a running, stopped or failed instance`),
  );
}

export function rebuild(s: AtRest, m: Msg<"rebuild">, now: Date): Out<InstanceState> {
  const kept = occupied(s) ?? protectedFault(s);
  if (kept !== null) return refuse(kept);
  const { host_cn_uuid } = s;
  const boot = bootDisk(s);
  if (host_cn_uuid === null || boot === undefined) return refuse(conflict("instance is not placed on a CN yet"));
  const { operation_id, limit_ms, image } = m;
  if (image.bytes > boot.size_bytes) {
    const text =
      `image ${image.id} needs a boot disk of at least ${image.bytes} bytes; first enlarge the boot disk of `;
    return refuse(conflict(`${text}${s.name} (${boot.size_bytes} bytes)`));
  }
  if (image.brand !== s.brand) {
    return refuse(conflict(`image ${image.id} is for instances of brand ${image.brand}, but ${s.name} has ${s.brand}`));
  }
  const next: InstanceState = {
    ...s,
    ...IDLE,
    state: THROUGH[s.state],
    reason: null,
    operation_id,
    operation_kind: "rebuild",
    updated_at: now,
  };
  const params: InstanceRebuildParams = {
    instance_id: s.id,
    host_cn_uuid,
    image_id: image.id,
    disk: { id: boot.id, size_bytes: boot.size_bytes },
    was: { state: s.state, reason: s.reason },
    limit_ms,
    instance: instanceView({ ...next, image_id: image.id }),
  };
  return go(
    next,
    stays(s.id),
    lock(lockKey("image", image.id), true),
    guard("image_exists", { image_id: image.id }, NOT_FOUND),
    guard("disk_is_at_rest", { disk_id: boot.id }, underWay(boot.id)),
    upsert("disk", ["id"], { ...boot, source_image_id: image.id }),
    begin(next, {
      id: operation_id,
      saga: INSTANCE_REBUILD.saga,
      params,
      done: { [INSTANCE_REBUILD.begun]: { image_id: image.id } },
    }, [{ scope: "image", id: image.id }]),
    noted(s, "instance_rebuild", { operation_id, image_id: image.id, from_image_id: s.image_id }),
  );
}

/** Records the image of the new boot disk. The new disk has the recorded size. */
export function bootDiskReplaced(s: InstanceState, m: Msg<"boot_disk_replaced">, now: Date): Out<InstanceState> {
  const { operation_id, image_id } = m;
  if (s.operation_id !== operation_id) return { out: "ignore" };
  return go<InstanceState>(
    { ...s, image_id, updated_at: now },
    ...bootDisks(s).map((disk) => upsert("disk", ["id"], { ...disk, applied_bytes: disk.size_bytes })),
  );
}

/** Ends the operation. */
export function rebuilt(s: InstanceState, m: Msg<"rebuilt">, now: Date): Out<InstanceState> {
  const { operation_id, to } = m;
  if (s.operation_id !== operation_id) return { out: "ignore" };
  return go(
    { ...s, ...IDLE, state: to, reason: null, missed_reports: 0, updated_at: now },
    noted(s, "instance_rebuilt", { operation_id, image_id: s.image_id, to }),
  );
}

/**
 * Ends a rebuild that failed. A job that no node claimed changed nothing, so the instance returns to its earlier state.
 * If the node claimed the job, the instance becomes failed. If the job that replaces the boot disk did not end, the
 * server does not know which boot disk the node has. The record then names the earlier image.
 */
export function rebuildFailed(s: InstanceState, m: Msg<"rebuild_failed">, now: Date): Out<InstanceState> {
  const { operation_id, reason, was } = m;
  if (s.operation_id !== operation_id) return { out: "ignore" };
  const then = s.job_begun ? { state: "failed", reason } as const : was;
  return go<InstanceState>(
    { ...s, ...IDLE, ...then, updated_at: now },
    ...bootDisks(s).map((disk) => upsert("disk", ["id"], { ...disk, source_image_id: s.image_id })),
    noted(s, "instance_rebuild_failed", { operation_id, reason }),
  );
}

function bootDisk(s: InstanceState): DiskRow | undefined {
  return bootDisks(s)[0];
}

function bootDisks({ disks }: InstanceState): readonly DiskRow[] {
  return disks.filter(({ kind }) => kind === "boot");
}
