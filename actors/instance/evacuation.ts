// The evacuation of an instance from a dead node: another node creates the instance's machine again from the instance's
// image. One commit reserves capacity on the new node, records this node as the instance's node and starts the
// operation. Until the operation ends, both nodes reserve capacity for the instance, and the old copy stays on the dead
// node. If the new node fails, the record gets the dead node and the earlier state back. The commit that ends the
// operation orders the dead node to delete the old copy (docs/reliability.md, "Evacuation of instances").
import { CN_LIVE_S } from "../../src/contract/limits.ts";
import { conflict, NO_ELIGIBLE_NODE } from "../../src/contract/fault.ts";
import { go, guard, insert, otherwise, refuse, upsert, withActor } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Out, Part } from "../engine/types.ts";
import { waitId } from "../engine/saga.ts";
import { vpcsChanged } from "../record/vpc-change.ts";
import { removed } from "./data-disks.ts";
import { noneMoves } from "./floating-ips.ts";
import { noted, occupied, stays } from "./lifecycle.ts";
import type { InstanceMessage } from "./messages.ts";
import { NO_ROOM_TO_MOVE, withinDrain } from "./migration.ts";
import { begin, INSTANCE_EVACUATE, type InstanceEvacuateParams } from "./operation.ts";
import { fitGroup } from "./placement-group.ts";
import { amountsOf, giveBackRoom, takeRoom } from "./resources.ts";
import { IDLE, type InstanceState, type On } from "./state.ts";
import { instanceView } from "./view.ts";

type Msg<T extends InstanceMessage["type"]> = Of<InstanceMessage, T>;
type AtRest = On<"running"> | On<"stopped"> | On<"failed">;

/** Refuses the evacuation of an instance that is pending, provisioning or stopping. */
export function notEvacuable(s: InstanceState): Out<InstanceState> {
  return refuse(occupied(s) ?? conflict(`${s.name} is ${s.state}; wait until its operation has ended`));
}

export function evacuate(s: AtRest, m: Msg<"evacuate">, now: Date): Out<InstanceState> {
  const busy = occupied(s);
  if (busy !== null) return refuse(busy);
  const source_cn = s.host_cn_uuid;
  if (source_cn !== m.from_cn) return refuse(conflict(`${s.name} is not on node ${m.from_cn}`));
  const out = m.candidates.filter((target_cn) => target_cn !== source_cn)
    .map((target_cn) => rebuiltOn(s, m, { source_cn, target_cn, now }))
    .reduceRight<Out<InstanceState> | null>(
      (rest, { next, parts }) => go(next, ...parts, ...(rest === null ? [] : [otherwise(rest)])),
      null,
    );
  return out ?? refuse(NO_ELIGIBLE_NODE);
}

type Move = { readonly source_cn: string; readonly target_cn: string; readonly now: Date };

function rebuiltOn(s: AtRest, m: Msg<"evacuate">, { source_cn, target_cn, now }: Move) {
  const { operation_id, limit_ms } = m;
  const next: InstanceState = {
    ...s,
    ...IDLE,
    state: "pending",
    reason: null,
    host_cn_uuid: target_cn,
    operation_id,
    operation_kind: "migrate",
    updated_at: now,
  };
  const params: InstanceEvacuateParams = {
    instance_id: s.id,
    source_cn,
    target_cn,
    was: { state: s.state, reason: s.reason },
    limit_ms,
    instance: instanceView(next),
  };
  const parts: Part<InstanceState>[] = [
    stays(s.id),
    noneMoves(s),
    ...withinDrain(source_cn, m.part_of),
    guard("cn_is_silent", { server_uuid: source_cn, live_s: CN_LIVE_S }, alive(source_cn)),
    ...takeRoom(
      { server_uuid: target_cn, owner: { tenant_id: s.tenant_id, silo_id: m.silo_id } },
      amountsOf(s),
      NO_ROOM_TO_MOVE,
    ),
    ...fitGroup(s, { server_uuid: target_cn, leaves: source_cn }, NO_ROOM_TO_MOVE),
    insert("migration", {
      id: operation_id,
      state: "running",
      instance_id: s.id,
      source_cn,
      target_cn,
      live: false,
      created_at: now,
      send_job_id: waitId(operation_id, INSTANCE_EVACUATE.provision),
    }),
    ...vpcsChanged(s.nics),
    begin(next, {
      id: operation_id,
      saga: INSTANCE_EVACUATE.saga,
      params,
      done: { [INSTANCE_EVACUATE.begun]: { source_cn, target_cn } },
    }, [{ scope: "cn", id: source_cn }]),
    noted(s, "instance_evacuate", { operation_id, target_cn }),
  ];
  return { next, parts };
}

/**
 * Returns the text that refuses the evacuation of a node that is not dead: the old copy on this node could run at the
 * same time as the new copy.
 */
export function alive(server_uuid: string): string {
  return `node ${server_uuid} was seen at <WHAT>, so it is not dead; drain it, or power it off and wait ${CN_LIVE_S} s`;
}

/** Ends the operation: the new node has the machine. */
export function evacuated(s: InstanceState, m: Msg<"evacuated">, now: Date): Out<InstanceState> {
  const { operation_id, source_cn, target_cn, to, delete_job_id } = m;
  if (s.operation_id !== operation_id) return { out: "ignore" };
  // The new node created the disks with the sizes in the record, and attached all of them.
  const isSnapshot = ({ kind }: InstanceState["disks"][number]) => kind === "snapshot";
  const disks = s.disks.filter((disk) => !isSnapshot(disk)).map((disk) => ({
    ...disk,
    applied_bytes: disk.size_bytes,
    attached: true,
  }));
  return go<InstanceState>(
    { ...s, ...IDLE, state: to, reason: null, missed_reports: 0, updated_at: now },
    ...giveBackRoom(source_cn, amountsOf(s)),
    ...disks.map((disk) => upsert("disk", ["id"], disk)),
    // Only the dead node had the snapshots. Their records are removed, and the new node's capacity for them is
    // released.
    ...s.disks.filter(isSnapshot).flatMap((disk) => removed(s, disk)),
    upsert("migration", ["id"], { ...ending(s, m, now), state: "completed" }),
    ...s.floating_ip_ids.map((id) =>
      withActor({ kind: "floating-ip", id }, {
        type: "instance_moved",
        instance_id: s.id,
        host_cn_uuid: target_cn,
        operation_id,
      })
    ),
    withActor({ kind: "job", id: delete_job_id }, {
      type: "enqueue",
      id: delete_job_id,
      kind: "delete",
      target_cn: source_cn,
      payload: { instance_id: s.id },
      saga_id: operation_id,
    }),
    noted(s, "instance_evacuated", { operation_id, source_cn, target_cn }),
  );
}

/** Ends an evacuation that failed. The instance is on the dead node again, in its earlier state. */
export function returned(s: InstanceState, m: Msg<"evacuation_failed">, now: Date): Out<InstanceState> {
  const { operation_id, source_cn, target_cn, was, reason } = m;
  if (s.operation_id !== operation_id) return { out: "ignore" };
  return go<InstanceState>(
    { ...s, ...IDLE, state: was.state, reason: was.reason, host_cn_uuid: source_cn, updated_at: now },
    ...giveBackRoom(target_cn, amountsOf(s)),
    upsert("migration", ["id"], { ...ending(s, m, now), state: "failed", reason }),
    ...vpcsChanged(s.nics),
    noted(s, "instance_evacuate_failed", { operation_id, source_cn, target_cn, reason }),
  );
}

/** Returns the columns that the upsert of the migration's row needs after a success and after a failure. */
function ending({ id }: InstanceState, m: Msg<"evacuated"> | Msg<"evacuation_failed">, now: Date) {
  const { operation_id, source_cn, target_cn } = m;
  return { id: operation_id, instance_id: id, source_cn, target_cn, ended_at: now };
}
