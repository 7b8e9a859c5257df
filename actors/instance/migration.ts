// The migration of an instance to another node. One commit reserves capacity on the target and starts the operation.
// Until the operation ends, both nodes reserve capacity for the instance. One commit changes the instance's node and
// ends the operation. Before that commit, only the source may run the machine; after that commit, only the target may
// (docs/reliability.md, "Migration of instances").
import { CN_LIVE_S, DRAIN_MIGRATIONS_MAX } from "../../src/contract/limits.ts";
import { conflict, fault, NO_ELIGIBLE_NODE } from "../../src/contract/fault.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { go, guard, insert, lock, otherwise, refuse, upsert, withActor } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Condition, Out, Part } from "../engine/types.ts";
import { waitId } from "../engine/saga.ts";
import { vpcsChanged } from "../record/vpc-change.ts";
import { noneMoves } from "./floating-ips.ts";
import { noted, occupied, stays } from "./lifecycle.ts";
import type { InstanceMessage } from "./messages.ts";
import { begin, INSTANCE_MIGRATE, type InstanceMigrateParams } from "./operation.ts";
import { fitGroup } from "./placement-group.ts";
import { amountsOf, giveBackRoom, takeRoom } from "./resources.ts";
import { IDLE, type InstanceState, type On } from "./state.ts";
import { instanceView } from "./view.ts";

type Msg<T extends InstanceMessage["type"]> = Of<InstanceMessage, T>;

/** 503: no candidate can take the instance any more, usually because other commits took the room. */
export const NO_ROOM_TO_MOVE = fault("unavailable", "no other node has room for the instance: <WHAT>", {
  error_code: "CapacityExhausted",
});

/** Refuses the migration of an instance that is neither running nor stopped. */
export function notMovable(s: InstanceState): Out<InstanceState> {
  return refuse(occupied(s) ?? conflict(`${s.name} is ${s.state}; migrate needs a running or stopped instance`));
}

export function migrate(s: On<"running"> | On<"stopped">, m: Msg<"migrate">, now: Date): Out<InstanceState> {
  const busy = occupied(s);
  if (busy !== null) return refuse(busy);
  const source_cn = s.host_cn_uuid;
  if (source_cn === null) return refuse(conflict("instance is not placed on a CN yet"));
  if (m.from_cn !== undefined && m.from_cn !== source_cn) {
    return refuse(conflict(`${s.name} has left node ${m.from_cn}`));
  }
  const snapshot = s.disks.find(({ kind }) => kind === "snapshot");
  if (snapshot !== undefined) {
    return refuse(conflict(`${s.name} has the snapshot ${snapshot.name}; instances with snapshots cannot migrate`));
  }
  if (m.candidates.includes(source_cn)) return refuse(conflict(`${s.name} is already on node ${source_cn}`));
  const out = m.candidates.map((target_cn) => movingTo(s, m, { source_cn, target_cn, now }))
    .reduceRight<Out<InstanceState> | null>(
      (rest, { next, parts }) => go(next, ...parts, ...(rest === null ? [] : [otherwise(rest)])),
      null,
    );
  return out ?? refuse(NO_ELIGIBLE_NODE);
}

type Move = { readonly source_cn: string; readonly target_cn: string; readonly now: Date };

function movingTo(s: On<"running"> | On<"stopped">, m: Msg<"migrate">, { source_cn, target_cn, now }: Move) {
  const { operation_id, limit_ms, bandwidth_bytes_per_s } = m;
  const next: InstanceState = { ...s, ...IDLE, operation_id, operation_kind: "migrate", updated_at: now };
  const live = s.state === "running";
  const params: InstanceMigrateParams = {
    instance_id: s.id,
    source_cn,
    target_cn,
    live,
    bandwidth_bytes_per_s,
    limit_ms,
    instance: instanceView(next),
  };
  const parts: Part<InstanceState>[] = [
    stays(s.id),
    noneMoves(s),
    ...(m.from_cn === undefined ? [] : withinDrain(source_cn, m.part_of)),
    guard("cn_is_live", { server_uuid: source_cn, live_s: CN_LIVE_S }, notLive(source_cn)),
    ...s.disks.map(({ id }) => guard("disk_is_at_rest", { disk_id: id }, `disk ${id} is being resized by <WHAT>`)),
    ...takeRoom(
      { server_uuid: target_cn, owner: { tenant_id: s.tenant_id, silo_id: m.silo_id } },
      amountsOf(s),
      NO_ROOM_TO_MOVE,
    ),
    ...fitGroup(s, { server_uuid: target_cn, leaves: m.from_cn }, NO_ROOM_TO_MOVE),
    insert("migration", {
      id: operation_id,
      state: "running",
      instance_id: s.id,
      source_cn,
      target_cn,
      live,
      created_at: now,
      send_job_id: waitId(operation_id, INSTANCE_MIGRATE.send),
    }),
    // Increases the generation of each VPC, so that the target gets the VPC's network document.
    ...vpcsChanged(s.nics),
    begin(next, {
      id: operation_id,
      saga: INSTANCE_MIGRATE.saga,
      params,
      done: { [INSTANCE_MIGRATE.begun]: { source_cn, target_cn } },
    }, [{ scope: "cn", id: target_cn }]),
    noted(s, "instance_migrate", { operation_id, target_cn, live }),
  ];
  return { next, parts };
}

/**
 * Checks that the drain or evacuation of a node still runs and can begin one more migration. Any server process can
 * continue the drain or evacuation, so the commit counts the migrations under the lock of the node.
 */
export function withinDrain(server_uuid: string, part_of: string | undefined): Condition[] {
  const full = fault(
    "unavailable",
    `<WHAT> migrations from node ${server_uuid} are running, the most that a drain may run`,
  );
  const running = part_of === undefined
    ? []
    : [guard("operation_runs", { id: part_of }, `operation ${part_of} is not running any more`)];
  return [
    lock(lockKey("cn", server_uuid)),
    ...running,
    guard("cn_sends_fewer", { server_uuid, migrations_max: DRAIN_MIGRATIONS_MAX }, full),
  ];
}

function notLive(server_uuid: string): string {
  return `the instance's node ${server_uuid} sends no heartbeats, so it cannot send the disks`;
}

/** Moves the instance to the target, and ends the operation. */
export function moveTo(s: InstanceState, m: Msg<"migrated">, now: Date): Out<InstanceState> {
  const { operation_id, target_cn, activate_job_id } = m;
  const source_cn = s.host_cn_uuid;
  if (s.operation_id !== operation_id || source_cn === null) return { out: "ignore" };
  return go<InstanceState>(
    { ...s, ...IDLE, host_cn_uuid: target_cn, missed_reports: 0, updated_at: now },
    ...giveBackRoom(source_cn, amountsOf(s)),
    upsert("migration", ["id"], {
      ...ending(s, m, { source_cn, target_cn, now }),
      state: "completed",
      activate_job_id,
    }),
    ...vpcsChanged(s.nics),
    ...s.floating_ip_ids.map((id) =>
      withActor({ kind: "floating-ip", id }, {
        type: "instance_moved",
        instance_id: s.id,
        host_cn_uuid: target_cn,
        operation_id,
      })
    ),
    noted(s, "instance_migrated", { operation_id, source_cn, target_cn }),
  );
}

/** Ends a migration that failed. The instance stays on its node, in its state. */
export function stay(s: InstanceState, m: Msg<"migration_failed">, now: Date): Out<InstanceState> {
  const { operation_id, target_cn, reason } = m;
  const source_cn = s.host_cn_uuid;
  if (s.operation_id !== operation_id || source_cn === null) return { out: "ignore" };
  return go<InstanceState>(
    { ...s, ...IDLE, missed_reports: 0, updated_at: now },
    ...giveBackRoom(target_cn, amountsOf(s)),
    upsert("migration", ["id"], { ...ending(s, m, { source_cn, target_cn, now }), state: "failed", reason }),
    ...vpcsChanged(s.nics),
    noted(s, "instance_migrate_failed", { operation_id, target_cn, reason }),
  );
}

/** Returns the columns of the migration's row that are the same after a success and after a failure. */
function ending({ id }: InstanceState, { operation_id }: { readonly operation_id: string }, move: Move) {
  const { source_cn, target_cn, now } = move;
  return { id: operation_id, instance_id: id, source_cn, target_cn, ended_at: now };
}
