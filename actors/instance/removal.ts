// The removal of an instance. The record keeps its addresses, disks and capacity until its node has done the delete
// job, or has undone a failed create. An operator can force the removal (docs/instances.md, "Delete").
import { conflict, type Fault, fault } from "../../src/contract/fault.ts";
import { go, refuse, tell, withActor } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Out, Part } from "../engine/types.ts";
import { holdsData } from "./data-disks.ts";
import { noneMoves } from "./floating-ips.ts";
import type { InstanceMessage } from "./messages.ts";
import { noted, occupied, stays } from "./lifecycle.ts";
import { begin, INSTANCE_DELETE, type InstanceDeleteParams } from "./operation.ts";
import { giveBackAll } from "./resources.ts";
import { IDLE, type InstanceState, type On } from "./state.ts";

type Msg<T extends InstanceMessage["type"]> = Of<InstanceMessage, T>;

export function destroy(s: On<"stopped"> | On<"failed">, m: Msg<"delete">, now: Date): Out<InstanceState> {
  const kept = occupied(s) ?? protectedFault(s) ?? holdsData(s);
  if (kept !== null) return refuse(kept);
  const { operation_id, limit_ms } = m;
  const { id: instance_id, host_cn_uuid } = s;
  const params: InstanceDeleteParams = { instance_id, host_cn_uuid, limit_ms, force: false };
  const next: InstanceState = { ...s, ...IDLE, operation_id, operation_kind: "delete", updated_at: now };
  return go(
    next,
    stays(instance_id),
    noneMoves(s),
    begin(next, {
      id: operation_id,
      saga: INSTANCE_DELETE.saga,
      params,
      done: { [INSTANCE_DELETE.begun]: { instance_id } },
    }),
    noted(s, "instance_delete", { operation_id }),
  );
}

/** Refuses the delete of an instance that runs or changes. */
export function notDeletable(s: InstanceState): Out<InstanceState> {
  const text = `instance ${s.id} is not deletable in state ${s.state}; stop it first`;
  return refuse(occupied(s) ?? protectedFault(s) ?? conflict(text));
}

/** Returns the 409 if the instance is protected against deletion, or null. */
export function protectedFault(s: InstanceState): Fault | null {
  if (!s.deletion_protection) return null;
  const message = `${s.name} is protected against deletion; set deletion_protection to false first`;
  return fault("conflict", message, { error_code: "DeletionProtected" });
}

/**
 * Removes the record in this commit. An operation in flight unwinds and finds nothing left to undo. The node gets a
 * delete job, and no operation waits for it.
 */
export function forceDelete(s: InstanceState, m: Msg<"force_delete">): Out<InstanceState> {
  if (s.migration_id !== null) return refuse(occupied(s) ?? conflict("instance is migrating"));
  const kept = protectedFault(s);
  if (kept !== null) return refuse(kept);
  const { operation_id, job_id } = m;
  const { id: instance_id, host_cn_uuid } = s;
  const params: InstanceDeleteParams = { instance_id, host_cn_uuid, limit_ms: 0, force: true };
  return go<InstanceState>(
    null,
    stays(instance_id),
    ...released(s, operation_id),
    ...endOperation(s),
    ...(host_cn_uuid === null ? [] : [withActor({ kind: "job", id: job_id }, {
      type: "enqueue",
      id: job_id,
      kind: INSTANCE_DELETE.job,
      target_cn: host_cn_uuid,
      payload: { instance_id },
      saga_id: operation_id,
    })]),
    begin(s, {
      id: operation_id,
      saga: INSTANCE_DELETE.saga,
      params,
      done: {
        [INSTANCE_DELETE.begun]: { instance_id },
        [INSTANCE_DELETE.job]: host_cn_uuid === null ? null : { job_id },
        [INSTANCE_DELETE.released]: { instance_id },
      },
    }),
    noted(s, "instance_force_delete", { operation_id, state: s.state }),
  );
}

function endOperation(s: InstanceState): Part<InstanceState>[] {
  if (s.operation_id === null) return [];
  const saga = { kind: "saga", id: s.operation_id };
  if (s.unwinding_as === null) return [tell(saga, { type: "abandon" })];
  return [tell(saga, { type: "job_ended", job_id: s.unwinding_as, outcome: "completed" })];
}

/**
 * Removes the record and releases its addresses, disks and capacity. The operation is a delete, or a create that is
 * undone.
 */
export function release(s: InstanceState, { operation_id }: Msg<"release">): Out<InstanceState> {
  if (s.operation_id !== operation_id) return { out: "ignore" };
  return go<InstanceState>(null, ...released(s, null), noted(s, "instance_release", { operation_id, name: s.name }));
}

/**
 * Returns the parts that release everything that the record holds. For a forced delete, `forced` is the id of its
 * operation, which does not wait for the node. Otherwise `forced` is null, and the node has already detached all
 * floating IPs.
 */
function released(s: InstanceState, forced: string | null): Part<InstanceState>[] {
  const gone = { type: "instance_gone", instance_id: s.id, forced };
  return [
    // An attach also changes the instance's row, so no attach commits at the same time: `floating_ip_ids` is complete.
    ...giveBackAll(s),
    ...s.floating_ip_ids.map((id) => withActor({ kind: "floating-ip", id }, gone)),
  ];
}

/** Keeps the record of a failed create, with the reason, until the node has undone its part. */
export function unwind(s: InstanceState, m: Msg<"unwinding">, now: Date): Out<InstanceState> {
  const { operation_id, reason, told_as } = m;
  if (s.operation_id !== operation_id) return go(s, nothingToWaitFor(m));
  return go(
    { ...s, state: "failed", reason, unwinding_as: told_as, updated_at: now },
    noted(s, "instance_create_failed", { operation_id, reason }),
  );
}

/** Ends the wait of a create operation whose instance an operator removed by force in the meantime. */
export function nothingLeft(_s: null, m: Msg<"unwinding">): Out<InstanceState> {
  return go<InstanceState>(null, nothingToWaitFor(m));
}

function nothingToWaitFor({ operation_id, told_as }: Msg<"unwinding">) {
  return tell({ kind: "saga", id: operation_id }, { type: "job_ended", job_id: told_as, outcome: "completed" });
}
