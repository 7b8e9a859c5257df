// The data disks of an instance, and the operations that they share with snapshots. A data disk belongs to its instance
// and is on the instance's node; the guest sees only attached disks. Each operation on a data disk except a resize
// (growth.ts) occupies the instance (see OperationKind; docs/instances.md, "Data disks").
import { badRequest, conflict, type Fault, isFault, NOT_FOUND } from "../../src/contract/fault.ts";
import { DATA_DISKS_MAX } from "../../src/contract/limits.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { labelsFault, relabeled } from "../../src/lib/text/labels.ts";
import { nameFault, renamed } from "../../src/lib/text/resource-name.ts";
import { go, guard, insert, refuse, remove, reply, upsert } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Out, Part } from "../engine/types.ts";
import { underWay } from "./growth.ts";
import { noted, occupied, stays } from "./lifecycle.ts";
import type { InstanceMessage } from "./messages.ts";
import { begin, type CopySource, DISK_CHANGE, type DiskAction, type DiskChangeParams } from "./operation.ts";
import { giveBack, noRoomToGrow, takeQuota, takeRoom } from "./resources.ts";
import { type DiskRow, IDLE, type InstanceState } from "./state.ts";
import { diskView, snapshotView } from "./view.ts";

type Msg<T extends InstanceMessage["type"]> = Of<InstanceMessage, T>;
type Change = Msg<"attach_disk"> | Msg<"detach_disk"> | Msg<"delete_disk"> | Msg<"delete_snapshot">;

export function createDisk(s: InstanceState, m: Msg<"create_disk">, now: Date): Out<InstanceState> {
  const { name, description, labels = {}, id, snapshot_id = null, image_id = null } = m.disk;
  const misnamed = nameFault(name) ?? labelsFault(labels);
  if (misnamed !== null) return refuse(misnamed);
  const host_cn_uuid = readyHost(s, "create_disk");
  if (typeof host_cn_uuid !== "string") return refuse(host_cn_uuid);
  const too_many = full(s);
  if (too_many !== null) return refuse(too_many);
  const snapshot = snapshot_id === null ? null : s.disks.find((each) => each.id === snapshot_id);
  if (snapshot !== null && snapshot?.kind !== "snapshot") return refuse(NO_SNAPSHOT);
  const size_bytes = m.disk.size_bytes ?? snapshot?.size_bytes ?? 0;
  if (snapshot !== null && size_bytes < snapshot.size_bytes) {
    return refuse(badRequest(`size_bytes must be at least the ${snapshot.size_bytes} bytes of the snapshot`));
  }
  const row = {
    ...newDisk(s, now),
    id,
    name,
    description,
    labels,
    kind: "data",
    size_bytes,
    source_image_id: image_id,
  } as const;
  const source: CopySource | undefined = snapshot_id !== null
    ? { source_disk_id: snapshot_id }
    : image_id !== null
    ? { image_id }
    : undefined;
  return begunNew(s, m, { disk: row, host_cn_uuid, now, source });
}

const NO_SNAPSHOT = badRequest(
  "snapshot_id must be a snapshot of the same instance",
);

/** Returns the columns that new data disks and snapshots share. */
export function newDisk(s: InstanceState, now: Date) {
  return {
    tenant_id: s.tenant_id,
    project_id: s.project_id,
    instance_id: s.id,
    applied_bytes: null,
    attached: false,
    source_image_id: null,
    source_disk_id: null,
    consistency: null,
    created_at: toRfc3339(now),
    resize_operation_id: null,
  };
}

/**
 * Starts the operation that creates a data disk or snapshot, and takes quota and capacity of the node for the new disk
 * or snapshot.
 */
export function begunNew(
  s: InstanceState,
  m: Msg<"create_disk"> | Msg<"create_snapshot">,
  to: Begun,
): Out<InstanceState> {
  const amounts = { ...NOTHING, disk_bytes: to.disk.size_bytes };
  return begun(s, m, to, [
    ...takeQuota(s, amounts, m.quota_defaults),
    ...takeRoom({ server_uuid: to.host_cn_uuid, owner: null }, amounts, noRoomToGrow(to.disk.id)),
    ...(m.type === "create_snapshot" ? [guard("disk_is_at_rest", { disk_id: m.disk_id }, underWay(m.disk_id))] : []),
    insert("disk", to.disk),
  ]);
}

const NOTHING = { cpu: 0, memory_bytes: 0, disk_bytes: 0, instances: 0 };

function full({ disks, name }: InstanceState): Fault | null {
  const count = disks.filter(({ kind }) => kind === "data").length;
  return count < DATA_DISKS_MAX ? null : conflict(`${name} has ${count} data disks, the maximum; delete one first`);
}

export function changeDisk(s: InstanceState, m: Change, now: Date): Out<InstanceState> {
  const of_snapshots = m.type === "delete_snapshot";
  const disk = s.disks.find(({ id, kind }) => id === m.disk_id && (kind === "snapshot") === of_snapshots);
  if (disk === undefined) return refuse(NOT_FOUND);
  const host_cn_uuid = readyHost(s, m.type);
  if (typeof host_cn_uuid !== "string") return refuse(host_cn_uuid);
  const wrong = notChangeable(disk, m.type);
  if (wrong !== null) return refuse(wrong);
  const at_rest = guard("disk_is_at_rest", { disk_id: disk.id }, underWay(disk.id));
  return begun(s, m, { disk, host_cn_uuid, now }, [at_rest]);
}

/** Changes the name, the description or the labels of a disk or a snapshot. The node does not store them. */
export function updateDisk(s: InstanceState, m: Msg<"update_disk" | "update_snapshot">, now: Date): Out<InstanceState> {
  const of_snapshots = m.type === "update_snapshot";
  const disk = s.disks.find(({ id, kind }) => id === m.disk_id && (kind === "snapshot") === of_snapshots);
  if (disk === undefined) return refuse(NOT_FOUND);
  const named = renamed(disk, m);
  if (isFault(named)) return refuse(named);
  const labels = relabeled(disk.labels, m.labels);
  if (isFault(labels)) return refuse(labels);
  const next = { ...named, labels };
  const view = of_snapshots ? snapshotView : diskView;
  return go(
    { ...s, updated_at: now },
    upsert("disk", ["id"], next),
    noted(s, of_snapshots ? "snapshot_update" : "disk_update", { disk_id: disk.id, name: next.name, labels }),
    reply(view({ ...next, created_at: new Date(next.created_at) })),
  );
}

function notChangeable({ kind, name, attached }: DiskRow, action: Change["type"]): Fault | null {
  if (kind === "boot") {
    return conflict(`${name} is the boot disk; only a data disk can be attached, detached or deleted`);
  }
  switch (action) {
    case "attach_disk":
      return attached ? conflict(`disk ${name} is attached already`) : null;
    case "detach_disk":
      return attached ? null : conflict(`disk ${name} is detached already`);
    case "delete_disk":
      return attached ? conflict(`disk ${name} is attached; detach it first`) : null;
    case "delete_snapshot":
      return null;
  }
}

/** Returns the node of an instance whose disks may change now, or the 409. */
export function readyHost(s: InstanceState, action: DiskAction | "create_image"): string | Fault {
  const busy = occupied(s);
  if (busy !== null) return busy;
  if (s.host_cn_uuid === null) return conflict("instance is not placed on a CN yet");
  const removes = action === "detach_disk" || action === "delete_disk" || action === "delete_snapshot";
  const permitted: readonly string[] = removes ? ["running", "stopped", "failed"] : ["running", "stopped"];
  if (permitted.includes(s.state)) return s.host_cn_uuid;
  const states = removes ? "running, stopped or failed" : "running or stopped";
  return conflict(`${s.name} is ${s.state}; this operation needs a ${states} instance`);
}

/** The action of an operation's audit entries. */
const AUDITED_AS = {
  create_disk: "disk_create",
  attach_disk: "disk_attach",
  detach_disk: "disk_detach",
  delete_disk: "disk_delete",
  create_snapshot: "snapshot_create",
  delete_snapshot: "snapshot_delete",
} as const satisfies Record<DiskAction, string>;

type Begun = {
  readonly disk: DiskRow;
  readonly host_cn_uuid: string;
  readonly now: Date;
  readonly source?: CopySource | undefined;
};

function begun(
  s: InstanceState,
  m: Msg<"create_disk"> | Msg<"create_snapshot"> | Change,
  { disk, host_cn_uuid, now, source }: Begun,
  parts: readonly Part<InstanceState>[],
): Out<InstanceState> {
  const { type: action, operation_id, limit_ms } = m;
  const { id: disk_id, name, size_bytes } = disk;
  const next: InstanceState = { ...s, ...IDLE, operation_id, operation_kind: action, updated_at: now };
  const params: DiskChangeParams = {
    action,
    instance_id: s.id,
    disk: (disk.kind === "snapshot" ? snapshotView : diskView)({ ...disk, created_at: new Date(disk.created_at) }),
    ...(source === undefined ? {} : { source }),
    host_cn_uuid,
    limit_ms,
  };
  return go(
    next,
    stays(s.id),
    ...parts,
    begin(next, { id: operation_id, saga: DISK_CHANGE.saga, params, done: { [DISK_CHANGE.begun]: { disk_id } } }, [
      { scope: "disk", id: disk_id },
    ]),
    noted(s, AUDITED_AS[action], { disk_id, name, size_bytes, operation_id }),
  );
}

export function diskChanged(s: InstanceState, m: Msg<"disk_changed">, now: Date): Out<InstanceState> {
  const found = changing(s, m);
  if (found === null) return { out: "ignore" };
  const { operation_id, disk_id } = m;
  return go(
    { ...s, ...IDLE, updated_at: now },
    ...afterwards(s, found, m),
    noted(s, "disk_settle", { disk_id, operation_id, action: AUDITED_AS[found.action] }),
  );
}

function afterwards(
  s: InstanceState,
  { disk, action }: Changing,
  { created_bytes, consistency }: Pick<Msg<"disk_changed">, "created_bytes" | "consistency">,
): Part<InstanceState>[] {
  switch (action) {
    case "create_disk":
      return [upsert("disk", ["id"], { ...disk, attached: true, applied_bytes: created_bytes ?? disk.size_bytes })];
    case "attach_disk":
      return [upsert("disk", ["id"], { ...disk, attached: true })];
    case "detach_disk":
      return [upsert("disk", ["id"], { ...disk, attached: false })];
    case "create_snapshot":
      return [upsert("disk", ["id"], { ...disk, applied_bytes: disk.size_bytes, consistency: consistency ?? null })];
    case "delete_disk":
    case "delete_snapshot":
      return removed(s, disk);
  }
}

/** Ends a failed operation. A failed create removes the disk's record; other failed operations leave it unchanged. */
export function diskUnchanged(s: InstanceState, m: Msg<"disk_unchanged">, now: Date): Out<InstanceState> {
  const found = changing(s, m);
  if (found === null) return { out: "ignore" };
  const { operation_id, reason } = m;
  return go(
    { ...s, ...IDLE, updated_at: now },
    ...(found.action === "create_disk" || found.action === "create_snapshot" ? removed(s, found.disk) : []),
    noted(s, `${AUDITED_AS[found.action]}_failed`, { disk_id: found.disk.id, operation_id, reason }),
  );
}

type Changing = { readonly disk: DiskRow; readonly action: DiskAction };

function changing(s: InstanceState, m: Msg<"disk_changed"> | Msg<"disk_unchanged">): Changing | null {
  const disk = s.disks.find(({ id }) => id === m.disk_id);
  if (s.operation_id !== m.operation_id || disk === undefined) return null;
  switch (s.operation_kind) {
    case "create_disk":
    case "attach_disk":
    case "detach_disk":
    case "delete_disk":
    case "create_snapshot":
    case "delete_snapshot":
      return { disk, action: s.operation_kind };
    default:
      return null;
  }
}

export function removed(s: InstanceState, { id, size_bytes }: DiskRow): Part<InstanceState>[] {
  return [...giveBack(s, { ...NOTHING, disk_bytes: size_bytes }), remove("disk", { id })];
}

/** Returns the 409 for the delete of an instance that has data disks or snapshots, or null. */
export function holdsData({ name, disks }: InstanceState): Fault | null {
  const kept = disks.filter(({ kind }) => kind === "data").map((disk) => disk.name);
  if (kept.length > 0) return conflict(`${name} has data disks (${kept.join(", ")}); delete them first`);
  const snapshots = disks.filter(({ kind }) => kind === "snapshot").map((disk) => disk.name);
  return snapshots.length === 0 ? null : conflict(`${name} has snapshots (${snapshots.join(", ")}); delete them first`);
}
