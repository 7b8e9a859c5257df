// Start, stop, restart, reset and retry of an instance. A message moves the instance to an intermediate state and
// starts an operation. When the operation's job ends, the instance moves to the final state. During a reset the
// instance stays running. An instance has one operation at a time (docs/instances.md, "States").
import type { AuditAction } from "../../src/contract/audit-actions.ts";
import { conflict, type Fault } from "../../src/contract/fault.ts";
import { audit, go, guard, refuse, upsert } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Condition, Out } from "../engine/types.ts";
import type { InstanceMessage } from "./messages.ts";
import {
  begin,
  INSTANCE_LIFECYCLE,
  type InstanceLifecycleParams,
  type LifecycleAction,
  type OperationKind,
} from "./operation.ts";
import { IDLE, type InstanceState } from "./state.ts";
import { instanceView } from "./view.ts";

type Msg<T extends InstanceMessage["type"]> = Of<InstanceMessage, T>;
type Action = Msg<"start"> | Msg<"stop"> | Msg<"restart"> | Msg<"reset"> | Msg<"retry">;

/**
 * For each action: FROM is the state that the action needs, THROUGH is the state while it runs, and TO is the state in
 * which it has nothing to do (null: there is no such state).
 */
const FROM = { start: "stopped", stop: "running", restart: "running", reset: "running", retry: "failed" } as const;
const THROUGH = {
  start: "pending",
  stop: "stopping",
  restart: "stopping",
  reset: "running",
  retry: "pending",
} as const;
const TO = { start: "running", stop: "stopped", restart: null, reset: null, retry: null } as const;

/** Refuses an action that the instance's state does not allow. */
export function notHere(s: InstanceState, { type }: Action): Out<InstanceState> {
  const busy = occupied(s);
  if (busy !== null) return refuse(busy);
  if (s.state === TO[type]) return refuse(conflict(`${s.name} is already ${s.state}`));
  return refuse(conflict(`${s.name} is ${s.state}; ${type} needs a ${FROM[type]} instance`));
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

/**
 * Returns the 409 that names the migration in flight or, without a migration, the operation in flight; null if there is
 * neither. For an operation, also returns null while the instance is pending, provisioning or stopping.
 */
export function occupied(s: InstanceState): Fault | null {
  if (s.migration_id !== null) return conflict(migrating(s.id, s.migration_id));
  // In these states the caller gets a refusal that names the state instead.
  if (s.operation_id === null || s.state === "pending" || s.state === "provisioning" || s.state === "stopping") {
    return null;
  }
  return conflict(
    `operation ${s.operation_id} (${s.operation_kind}) still runs on instance ${s.id}; wait for it to end`,
  );
}

/** Checks that no migration of the instance is in flight. */
export function stays(instance_id: string): Condition {
  return guard("instance_stays", { instance_id }, migrating(instance_id, "<WHAT>"));
}

function migrating(instance_id: string, migration_id: string): string {
  return `instance ${instance_id} has an active migration ${migration_id}`;
}

/**
 * Records that the node claimed the operation's job. The state becomes provisioning if the job provisions the instance,
 * or rebuilds it while no guest runs.
 */
export function noteClaim(s: InstanceState, { job_kind }: Msg<"job_claimed">, now: Date): Out<InstanceState> {
  if (s.operation_kind === null || s.job_begun || job_kind !== JOB_OF[s.operation_kind]) return { out: "ignore" };
  const provisions = job_kind === "provision" || job_kind === "rebuild" && s.state === "pending";
  if (!provisions) return go({ ...s, job_begun: true });
  return go({ ...s, job_begun: true, state: "provisioning", updated_at: now });
}

/** The job of each operation. */
const JOB_OF = {
  create: "provision",
  start: "start",
  retry: "start",
  stop: "stop",
  restart: "restart",
  reset: "reset",
  delete: "delete",
  create_disk: "create_disk",
  attach_disk: "attach_disk",
  detach_disk: "detach_disk",
  delete_disk: "delete_disk",
  create_snapshot: "create_snapshot",
  delete_snapshot: "delete_snapshot",
  create_image: "create_image",
  migrate: "migrate_send",
  rebuild: "rebuild",
} as const satisfies Record<OperationKind, string>;

export function settle(s: InstanceState, { operation_id, to }: Msg<"settle">, now: Date): Out<InstanceState> {
  if (s.operation_id !== operation_id) return { out: "ignore" };
  const next: InstanceState = { ...s, ...IDLE, state: to, reason: null, missed_reports: 0, updated_at: now };
  // The node created the disks with the sizes in the record.
  const made = s.operation_kind === "create" ? s.disks : [];
  const disks = made.map((disk) => ({ ...disk, applied_bytes: disk.size_bytes }));
  return go(
    next,
    ...disks.map((disk) => upsert("disk", ["id"], disk)),
    noted(s, "instance_settle", { operation_id, to }),
  );
}

/**
 * Ends an operation that failed. A job that no node claimed changed nothing, so the instance returns to its earlier
 * state. The effects of a claimed job are unknown, so the instance becomes failed. This applies to start, stop, restart
 * and retry. A failed delete or reset leaves the instance as it was.
 */
export function failOperation(s: InstanceState, m: Msg<"operation_failed">, now: Date): Out<InstanceState> {
  if (s.operation_id !== m.operation_id || s.operation_kind === null) return { out: "ignore" };
  const { operation_id, reason } = m;
  const kind = s.operation_kind;
  // Other operations report their end with messages of their own.
  if (!isLifecycle(kind) && kind !== "delete") return { out: "ignore" };
  const note = noted(s, `instance_${kind}_failed`, { operation_id, reason });
  if (kind === "delete" || kind === "reset") {
    return go({ ...s, ...IDLE, updated_at: now }, note);
  }
  if (s.job_begun) return go({ ...s, ...IDLE, state: "failed", reason, updated_at: now }, note);
  return go({ ...s, ...IDLE, state: FROM[kind], updated_at: now }, note);
}

function isLifecycle(kind: OperationKind): kind is LifecycleAction {
  return Object.hasOwn(FROM, kind);
}

export function noted(s: InstanceState, action: AuditAction, payload: Record<string, unknown>) {
  const { tenant_id, project_id, host_cn_uuid } = s;
  return audit(action, `Instance::"${s.id}"`, { tenant_id, project_id, host_cn_uuid, ...payload });
}
