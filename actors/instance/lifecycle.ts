// Started, stopped, restarted, tried again: the message moves the instance half way and begins the operation, whose job's
// end moves it the rest. One operation at a time. Document 3, States and transitions; document 4, 1.8 and 1.11.
import { conflict, type Fault } from "../../src/contract/fault.ts";
import { renamed } from "../../src/lib/text/resource-name.ts";
import { audit, go, guard, refuse, upsert } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Condition, Out } from "../engine/types.ts";
import type { InstanceMessage } from "./messages.ts";
import { begin, INSTANCE_LIFECYCLE, type InstanceLifecycleParams, type OperationKind } from "./operation.ts";
import { IDLE, type InstanceState } from "./state.ts";
import { instanceView } from "./view.ts";

type Msg<T extends InstanceMessage["type"]> = Of<InstanceMessage, T>;
type Action = Msg<"start"> | Msg<"stop"> | Msg<"restart"> | Msg<"retry">;

/** Where each action begins, and where the instance is meanwhile. */
const FROM = { start: "stopped", stop: "running", restart: "running", retry: "failed" } as const;
const THROUGH = { start: "pending", stop: "stopping", restart: "stopping", retry: "pending" } as const;

/** Document 4, 1.11. */
export function notHere(s: InstanceState, { type }: Action): Out<InstanceState> {
  return refuse(occupied(s) ?? conflict(`instance is in ${s.state}, expected one of ${FROM[type]}`));
}

export function act(s: InstanceState, m: Action, now: Date): Out<InstanceState> {
  const { type: action, operation_id, limit_ms } = m;
  const busy = occupied(s);
  if (busy !== null) return refuse(busy);
  const host_cn_uuid = s.host_cn_uuid;
  if (host_cn_uuid === null) return refuse(conflict("instance is not placed on a CN yet"));
  const next: InstanceState = {
    ...s,
    ...IDLE,
    state: THROUGH[action],
    operation_id,
    operation_kind: action,
    updated_at: now,
  };
  const params: InstanceLifecycleParams = {
    instance_id: s.id,
    host_cn_uuid,
    limit_ms,
    instance: instanceView(next),
    action,
  };
  const done = { [INSTANCE_LIFECYCLE.begun]: { from: s.state } };
  return go(
    next,
    stays(s.id),
    begin(next, { id: operation_id, saga: INSTANCE_LIFECYCLE.saga, params, done }),
    noted(s, `instance_${action}`, { operation_id }),
  );
}

/** 409 while something else is at work on the instance, or null. A migration is named before anything else is looked at. */
export function occupied(s: InstanceState): Fault | null {
  if (s.migration_id !== null) return conflict(migrating(s.id, s.migration_id));
  // In the states between, the state itself says why not.
  if (s.operation_id === null || s.state === "pending" || s.state === "provisioning" || s.state === "stopping") {
    return null;
  }
  return conflict(`operation ${s.operation_id} (${s.operation_kind}) is at work on instance ${s.id}`);
}

/** Document 3: an active migration keeps an instance from everything else. */
export function stays(instance_id: string): Condition {
  return guard("instance_stays", { instance_id }, migrating(instance_id, "<WHAT>"));
}

function migrating(instance_id: string, migration_id: string): string {
  return `instance ${instance_id} has an active migration ${migration_id}`;
}

/** Document 4, 1.8: the claim of a provision job is the one that shows. */
export function noteClaim(s: InstanceState, { job_kind }: Msg<"job_claimed">, now: Date): Out<InstanceState> {
  if (s.operation_kind === null || s.job_begun || job_kind !== JOB_OF[s.operation_kind]) return { out: "ignore" };
  if (job_kind !== "provision") return go({ ...s, job_begun: true });
  return go({ ...s, job_begun: true, state: "provisioning", updated_at: now });
}

/** The job that each operation sends. */
const JOB_OF = {
  create: "provision",
  start: "start",
  retry: "start",
  stop: "stop",
  restart: "restart",
  delete: "delete",
} as const satisfies Record<OperationKind, string>;

export function settle(s: InstanceState, { operation_id, to }: Msg<"settle">, now: Date): Out<InstanceState> {
  if (s.operation_id !== operation_id) return { out: "ignore" };
  const next: InstanceState = { ...s, ...IDLE, state: to, reason: null, missed_reports: 0, updated_at: now };
  // Whatever the node has just made, it made in the sizes that the record has.
  const made = s.operation_kind === "create" ? s.disks : [];
  const disks = made.map((disk) => ({ ...disk, applied_bytes: disk.size_bytes }));
  return go(
    next,
    ...disks.map((disk) => upsert("disk", ["id"], disk)),
    noted(s, "instance_settle", { operation_id, to }),
  );
}

/**
 * An operation came to nothing. A job that no node has begun changed nothing, so the instance is what it was; of one that
 * was begun and did not end well nobody knows what it left, and that is a failure. Only of start, stop and restart: a
 * delete that failed leaves the instance as it was. Document 4, 1.8.
 */
export function failOperation(s: InstanceState, m: Msg<"operation_failed">, now: Date): Out<InstanceState> {
  if (s.operation_id !== m.operation_id || s.operation_kind === null) return { out: "ignore" };
  const { operation_id, reason } = m;
  const note = noted(s, `instance_${s.operation_kind}_failed`, { operation_id, reason });
  if (s.operation_kind === "delete" || s.operation_kind === "create") {
    return go({ ...s, ...IDLE, updated_at: now }, note);
  }
  if (s.job_begun) return go({ ...s, ...IDLE, state: "failed", reason, updated_at: now }, note);
  return go({ ...s, ...IDLE, state: FROM[s.operation_kind], updated_at: now }, note);
}

export function rename(s: InstanceState, m: Msg<"update">, now: Date): Out<InstanceState> {
  const next = renamed(s, m);
  if ("message" in next) return refuse(next);
  return go({ ...next, updated_at: now }, noted(s, "instance_update", { name: next.name }));
}

export function noted(s: InstanceState, action: string, payload: Record<string, unknown>) {
  const { tenant_id, project_id, host_cn_uuid } = s;
  return audit(action, `Instance::"${s.id}"`, { tenant_id, project_id, host_cn_uuid, ...payload });
}
