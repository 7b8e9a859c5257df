// The change of an instance's name, description, labels, protection and size. The same commit takes quota and capacity
// of the node for a new size, and the next start applies the size (docs/instances.md, "Change").
import { conflict, type Fault, isFault } from "../../src/contract/fault.ts";
import { relabeled } from "../../src/lib/text/labels.ts";
import { renamed } from "../../src/lib/text/resource-name.ts";
import { go, refuse } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Out, Part } from "../engine/types.ts";
import { vpcsChanged } from "../record/vpc-change.ts";
import { noted, occupied, stays } from "./lifecycle.ts";
import type { InstanceMessage } from "./messages.ts";
import { noRoomForSize, roomBetween, type Size, takeQuota, takeRoom } from "./resources.ts";
import type { InstanceState } from "./state.ts";

type Update = Of<InstanceMessage, "update">;

export function update(s: InstanceState, m: Update, now: Date): Out<InstanceState> {
  const next = renamed(s, m);
  if (isFault(next)) return refuse(next);
  const late = m.deletion_protection === true ? tooLateToProtect(s) : null;
  if (late !== null) return refuse(late);
  const labels = relabeled(s.labels, m.labels);
  if (isFault(labels)) return refuse(labels);
  const size: Size = { cpu: m.cpu ?? s.cpu, memory_bytes: m.memory_bytes ?? s.memory_bytes };
  const is_resized = size.cpu !== s.cpu || size.memory_bytes !== s.memory_bytes;
  const unfit = is_resized ? notResizable(s) : null;
  if (unfit !== null) return refuse(unfit);
  const deletion_protection = m.deletion_protection ?? s.deletion_protection;
  // The network documents change with the name and with the number of vCPUs. The name is the guest's name in the DNS of
  // its VPCs. The number of vCPUs selects the limits of its NICs.
  const networked = next.name === s.name && size.cpu === s.cpu ? [] : vpcsChanged(s.nics);
  return go(
    { ...next, ...size, labels, deletion_protection, updated_at: now },
    ...networked,
    ...(is_resized ? resized(s, size, m) : []),
    noted(s, "instance_update", { name: next.name, labels, deletion_protection, ...size }),
  );
}

/** A delete and a rebuild check the protection only when they begin. */
function tooLateToProtect({ id, operation_kind }: InstanceState): Fault | null {
  if (operation_kind !== "delete" && operation_kind !== "rebuild") return null;
  const done = operation_kind === "delete" ? "deleted" : "rebuilt";
  return conflict(`instance ${id} is being ${done}; the protection would not prevent this`);
}

function notResizable(s: InstanceState): Fault | null {
  const busy = occupied(s);
  if (busy !== null) return busy;
  return s.state === "stopped" ? null : conflict(`${s.name} is ${s.state}; a new size needs a stopped instance`);
}

function resized(s: InstanceState, size: Size, { quota_defaults }: Update): Part<InstanceState>[] {
  const more = { cpu: size.cpu - s.cpu, memory_bytes: size.memory_bytes - s.memory_bytes, disk_bytes: 0, instances: 0 };
  return [
    stays(s.id),
    ...takeQuota(s, more, quota_defaults),
    ...(s.host_cn_uuid === null ? [] : takeRoom(
      { server_uuid: s.host_cn_uuid, owner: null, cpu: size.cpu },
      roomBetween(s, size),
      noRoomForSize(s.id),
    )),
  ];
}
