// The growth of a disk. A disk never shrinks. The record, the quota and the counted use of the node change at once. An
// operation then grows the disk on the node. No caller waits for the operation, and its failure affects only the disk
// (docs/instances.md, "Disks").
import { badRequest, conflict, type Fault, NOT_FOUND } from "../../src/contract/fault.ts";
import { go, guard, refuse, reply, upsert } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Out, Part } from "../engine/types.ts";
import { noted } from "./lifecycle.ts";
import type { InstanceMessage } from "./messages.ts";
import { begin, DISK_RESIZE, type DiskResizeParams } from "./operation.ts";
import { type Amounts, noRoomToGrow, takeQuota, takeRoom } from "./resources.ts";
import type { DiskRow, InstanceState } from "./state.ts";
import { diskView } from "./view.ts";

type Msg<T extends InstanceMessage["type"]> = Of<InstanceMessage, T>;

const NOT_PLACED = badRequest("instance is not placed on a CN yet");
const NOT_AT_REST = badRequest("instance must be running or stopped to resize its disk");

export function resize(s: InstanceState, m: Msg<"resize_disk">, now: Date): Out<InstanceState> {
  const disk = s.disks.find(({ id, kind }) => id === m.disk_id && kind !== "snapshot");
  if (disk === undefined) return refuse(NOT_FOUND);
  const { host_cn_uuid } = s;
  if (host_cn_uuid === null) return refuse(NOT_PLACED);
  if (s.state !== "running" && s.state !== "stopped") return refuse(NOT_AT_REST);
  if (s.operation_kind === "delete") return refuse(conflict(`instance ${s.id} is being deleted`));
  if (s.operation_kind === "migrate") return refuse(conflict(`instance ${s.id} is being migrated`));
  const { size_bytes, operation_id, limit_ms } = m;
  // A size that the node has not applied yet can be requested again.
  const behind = disk.applied_bytes === null || disk.applied_bytes < disk.size_bytes;
  if (size_bytes < disk.size_bytes || (size_bytes === disk.size_bytes && !behind)) {
    return refuse(conflict(`disk resize must grow: requested ${size_bytes} <= current ${disk.size_bytes}`));
  }
  const more: Amounts = { cpu: 0, memory_bytes: 0, disk_bytes: size_bytes - disk.size_bytes, instances: 0 };
  const grown = { ...disk, size_bytes, resize_operation_id: operation_id };
  const taken: Part<InstanceState>[] = more.disk_bytes === 0 ? [upsert("disk", ["id"], grown)] : [
    ...takeQuota(s, more, m.quota_defaults),
    ...takeRoom({ server_uuid: host_cn_uuid, owner: null }, more, noRoomToGrow(disk.id)),
    upsert("disk", ["id"], grown),
  ];
  const params: DiskResizeParams = { instance_id: s.id, disk_id: disk.id, size_bytes, host_cn_uuid, limit_ms };
  return go(
    { ...s, updated_at: now },
    guard("disk_is_at_rest", { disk_id: disk.id }, underWay(disk.id)),
    ...taken,
    begin(s, {
      id: operation_id,
      saga: DISK_RESIZE.saga,
      params,
      done: { [DISK_RESIZE.grown]: { size_bytes } },
    }, [{ scope: "disk", id: disk.id }]),
    noted(s, "disk_resize", { disk_id: disk.id, from_bytes: disk.size_bytes, size_bytes, operation_id }),
    reply({
      ...diskView({ ...grown, created_at: new Date(disk.created_at) }),
      reboot_required: s.state === "running",
    }),
  );
}

/** 409: a disk has one resize at a time, because two sizes could reach its node in the wrong order. */
export function underWay(disk_id: string): Fault {
  return conflict(`disk ${disk_id} is being resized by operation <WHAT>; wait for it to end`);
}

export function applied(s: InstanceState, { disk_id, size_bytes }: Msg<"disk_applied">): Out<InstanceState> {
  const disk = s.disks.find(({ id }) => id === disk_id);
  if (disk === undefined || (disk.applied_bytes ?? 0) >= size_bytes) return { out: "ignore" };
  const now_made: DiskRow = { ...disk, applied_bytes: Math.min(size_bytes, disk.size_bytes) };
  return go(s, upsert("disk", ["id"], now_made));
}
