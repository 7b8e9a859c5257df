// The netboot path after the announce: an operator approves a disk layout, the machine installs itself and reports
// (docs/nodes.md, "The netboot path").
//
// Every report carries the epoch of its run. Epochs never repeat, so a report of an older run has no effect. The epochs
// continue to increase after a failure, a reset or the removal of the record.
import { badRequest, conflict } from "../../src/contract/fault.ts";
import { SETUP_LIMIT_MS } from "../../src/contract/limits.ts";
import { addMs, toRfc3339 } from "../../src/lib/text/instant.ts";
import { approvedLayout } from "../../src/lib/disk-layout/proposal.ts";
import { disksOf } from "../../src/lib/disk-layout/disks.ts";
import { audit, go, refuse, reply, tell, withActor } from "../engine/effects.ts";
import { waitId } from "../engine/saga.ts";
import type { Out, Part } from "../engine/types.ts";
import { bindKey, dropKey } from "./credential.ts";
import { completedDelivery, STALE } from "./handover.ts";
import type { Msg } from "./messages.ts";
import { type CnState, type On, resource } from "./state.ts";

/** The error of a run that never reported its end. */
export const SETUP_EXPIRED = "cn setup exceeded its deadline without reporting complete/failed; reverted by reconciler";
/** The saga, its step that commits with the approval, and its step that waits for the end of the run. */
export const CN_SETUP = { saga: "cn-setup", approved: "approved", step: "reported" } as const;

export function approveSetup(s: On<"awaiting_setup">, m: Msg<"approve_setup">, now: Date): Out<CnState> {
  const layout = approvedLayout(disksOf(s.announced_sysinfo), m.approval);
  if ("error" in layout) return refuse(badRequest(layout.error));
  const next: On<"setting_up"> = {
    ...s,
    state: "setting_up",
    hostname: m.approval.hostname ?? s.hostname,
    approved_at: now,
    disk_layout: m.approval,
    last_setup_error: null,
    setup_progress: null,
    setup_epoch: m.epoch,
    setup_operation_id: m.operation_id,
    bundle_taken: false,
    setup_delivery: null,
  };
  return go(
    next,
    withActor({ kind: "saga", id: m.operation_id }, {
      type: "start",
      id: m.operation_id,
      saga: CN_SETUP.saga,
      params: { server_uuid: s.server_uuid, epoch: m.epoch },
      references: [{ scope: "cn", id: s.server_uuid }],
      // This commit does the step. If the operation is abandoned, the saga runs the undo of the step, which reverts the
      // node.
      done: { [CN_SETUP.approved]: { epoch: m.epoch } },
    }),
    audit("cn_setup_approve", resource(s), {
      server_uuid: s.server_uuid,
      disk_layout: m.approval,
      operation_id: m.operation_id,
    }),
  );
}

/** Gives the bundle to the first request. The same commit binds the node's key, so only one machine has the key. */
export function takeBundle(s: On<"setting_up">, m: Msg<"take_bundle">): Out<CnState> {
  if (s.bundle_taken) {
    return refuse(conflict("the setup bundle of this run was already fetched; it can be fetched only once"));
  }
  const next = {
    ...s,
    bundle_taken: true,
    bound_api_key_id: m.key.id,
    pending_credential: m.key.sealed,
    ticket_keys: m.key.sealed_tickets,
  };
  return go(
    next,
    bindKey(s.server_uuid, m.key),
    audit("booter_bundle", resource(s), {
      server_uuid: s.server_uuid,
      epoch: s.setup_epoch,
      bound_api_key_id: m.key.id,
    }),
    // The route reads the secrets of the bundle from the record, so that no stored reply contains them.
    reply({ epoch: s.setup_epoch }),
  );
}

export function progress(s: On<"setting_up">, m: Msg<"setup_progressed">, now: Date): Out<CnState> {
  if (m.epoch !== s.setup_epoch) return refuse(STALE);
  const { epoch, step, message, percent } = m;
  // The first report proves that the bundle has arrived.
  return go({
    ...s,
    pending_credential: null,
    setup_progress: { epoch, step, message, percent, updated_at: toRfc3339(now) },
  });
}

/** Approves the node and, in the same commit, enrols its boot records that are in state enrolling. */
export function complete(s: On<"setting_up">, m: Msg<"setup_completed">): Out<CnState> {
  if (m.epoch !== s.setup_epoch) return refuse(STALE);
  if (s.bound_api_key_id === null) return refuse(conflict("the setup bundle of this run was never fetched"));
  const { server_uuid } = s;
  const enroll = { type: "enroll", server_uuid, enrollment_pi: m.enrollment_pi };
  return go(
    {
      ...s,
      state: "approved",
      admin_ip: m.admin_ip ?? s.admin_ip,
      bound_api_key_id: s.bound_api_key_id,
      pending_credential: null,
      setup_epoch: null,
      last_setup_error: null,
      setup_delivery: completedDelivery(s),
    },
    ...s.announced_macs.map((mac) => withActor({ kind: "boot-record", id: mac }, enroll)),
    tellSaga(s, { outcome: "completed", result: { server_uuid } }),
    audit("cn_setup_complete", resource(s), { server_uuid, epoch: m.epoch }),
  );
}

export function fail(s: On<"setting_up">, m: Msg<"setup_failed">): Out<CnState> {
  if (m.epoch !== s.setup_epoch) return refuse(STALE);
  return revert(s, m.reason, audit("cn_setup_failed", resource(s), { server_uuid: s.server_uuid, reason: m.reason }));
}

export function revertAbandoned(s: On<"setting_up">, m: Msg<"revert_setup">): Out<CnState> {
  if (m.epoch !== s.setup_epoch) return { out: "ignore" };
  return revert(s, m.reason, audit("cn_setup_abandoned", resource(s), { server_uuid: s.server_uuid, epoch: m.epoch }));
}

/** Expires the setup when more than SETUP_LIMIT_MS has passed since the approval. */
export function expireSetup(s: On<"setting_up">, _m: Msg<"tick">, now: Date): Out<CnState> {
  if (now <= addMs(s.approved_at, SETUP_LIMIT_MS)) return { out: "ignore" };
  return revert(s, SETUP_EXPIRED, audit("cn_setup_expired", resource(s), { server_uuid: s.server_uuid }));
}

/** Returns the time of the tick that expires the setup, or that forgets the script of a successful setup. */
export function setupDeadline(s: On<"setting_up"> | On<"approved">): Date {
  return addMs(s.approved_at, SETUP_LIMIT_MS + 1);
}

/** Sets the node back to awaiting_setup, records the reason, and revokes the run's key. */
export function revert(s: On<"setting_up">, reason: string, ...parts: readonly Part<CnState>[]): Out<CnState> {
  const { setup_operation_id, ...rest } = s;
  const next: On<"awaiting_setup"> = {
    ...rest,
    state: "awaiting_setup",
    approved_at: null,
    bound_api_key_id: null,
    pending_credential: null,
    ticket_keys: null,
    setup_epoch: null,
    setup_operation_id,
    bundle_taken: false,
    setup_delivery: null,
    last_setup_error: reason,
  };
  const dropped = s.bound_api_key_id === null ? [] : [dropKey(s.bound_api_key_id)];
  return go(next, ...dropped, tellSaga(s, { outcome: "failed", reason }), ...parts);
}

function tellSaga(
  s: On<"setting_up">,
  ending: { outcome: "completed"; result: unknown } | { outcome: "failed"; reason: string },
) {
  const job_id = waitId(s.setup_operation_id, CN_SETUP.step);
  return tell({ kind: "saga", id: s.setup_operation_id }, { type: "job_ended", job_id, ...ending });
}
