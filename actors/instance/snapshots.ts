// Snapshots of the disks of an instance. A snapshot is a full copy of a disk, on the instance's node. It uses as much
// of the quota and of the node's storage as the disk (docs/instances.md, "Snapshots").
import { conflict, NOT_FOUND } from "../../src/contract/fault.ts";
import { SNAPSHOTS_MAX } from "../../src/contract/limits.ts";
import { labelsFault } from "../../src/lib/text/labels.ts";
import { nameFault } from "../../src/lib/text/resource-name.ts";
import { refuse } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Out } from "../engine/types.ts";
import { begunNew, newDisk, readyHost } from "./data-disks.ts";
import type { InstanceMessage } from "./messages.ts";
import type { InstanceState } from "./state.ts";

export function createSnapshot(
  s: InstanceState,
  m: Of<InstanceMessage, "create_snapshot">,
  now: Date,
): Out<InstanceState> {
  const misnamed = nameFault(m.snapshot.name) ?? labelsFault(m.snapshot.labels ?? {});
  if (misnamed !== null) return refuse(misnamed);
  const source = s.disks.find(({ id, kind }) => id === m.disk_id && kind !== "snapshot");
  if (source === undefined) return refuse(NOT_FOUND);
  const host_cn_uuid = readyHost(s, "create_snapshot");
  if (typeof host_cn_uuid !== "string") return refuse(host_cn_uuid);
  const count = s.disks.filter(({ kind }) => kind === "snapshot").length;
  if (count >= SNAPSHOTS_MAX) {
    return refuse(conflict(`${s.name} has ${count} snapshots, the maximum; delete one first`));
  }
  // After a failed growth, the node's disk may have any size from applied_bytes to size_bytes. A node can make a copy
  // that is larger than the disk, but not a smaller copy. So the snapshot gets the requested size of the disk.
  const copied = { kind: "snapshot", size_bytes: source.size_bytes, source_disk_id: source.id } as const;
  const disk = { ...newDisk(s, now), ...m.snapshot, labels: m.snapshot.labels ?? {}, ...copied };
  return begunNew(s, m, { disk, host_cn_uuid, now, source: { source_disk_id: source.id } });
}
