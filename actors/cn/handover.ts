// The handover of a live setup run to another booter (docs/booting.md, "A setup whose booter ends"). Before a booter
// sends the setup script, the control plane stores the machine's MAC and IP address, and the SHA-256 of the script's
// token. If the booter stops, the script calls another booter. That booter finds the run by the SHA-256, and accepts
// calls only from the stored address.
//
// At most one script of a run may change the machine. So a booter may replace the script only until the machine has the
// values of the setup bundle. The server assumes that the machine has them when it has sent its first report, or when
// another booter has got the bundle.
import { conflict } from "../../src/contract/fault.ts";
import { SETUP_LIMIT_MS } from "../../src/contract/limits.ts";
import type { SetupDelivery } from "../../src/contract/setup.ts";
import { addMs } from "../../src/lib/text/instant.ts";
import { audit, go, refuse, reply } from "../engine/effects.ts";
import type { Out } from "../engine/types.ts";
import type { Msg } from "./messages.ts";
import { type CnState, knownPorts, type On, resource } from "./state.ts";

/** 409: the message belongs to a run that is over. */
export const STALE = conflict("the report belongs to another setup run (stale epoch)");

/** Stores the delivery that a booter is about to begin. A later delivery of the same run replaces it. */
export function setupDelivered(s: On<"setting_up">, m: Msg<"setup_delivered">): Out<CnState> {
  const { epoch, token_sha256, mac, address } = m;
  if (epoch !== s.setup_epoch) return refuse(STALE);
  const before = liveDelivery(s);
  if (before?.token_sha256 === token_sha256) return { out: "ignore" };
  if (!s.bundle_taken) return refuse(conflict("the setup bundle of this run was never fetched"));
  if (s.pending_credential === null || before?.handed_over === true) return refuse(RUNNING);
  if (!knownPorts(s).includes(mac)) return refuse(conflict(`${mac} is not a port of the node`));
  return go({ ...s, setup_delivery: { epoch, token_sha256, mac, address, handed_over: false, completed: false } });
}

/** 409: another script would run at the same time. */
const RUNNING = conflict("the machine already runs the setup script of this run; it must not get another one");

/** Lets another booter read the bundle for the script that has this token, until the first report of the run. */
export function handOverBundle(s: On<"setting_up">, m: Msg<"hand_over_bundle">): Out<CnState> {
  const delivery = liveDelivery(s);
  if (m.epoch !== s.setup_epoch || delivery?.token_sha256 !== m.token_sha256) return refuse(STALE);
  if (s.pending_credential === null) {
    return refuse(
      conflict("the machine already has the values of this run; they can be fetched only before its first report"),
    );
  }
  return go(
    { ...s, setup_delivery: { ...delivery, handed_over: true } },
    audit("booter_bundle_handover", resource(s), { server_uuid: s.server_uuid, epoch: m.epoch, mac: delivery.mac }),
    reply({ epoch: m.epoch }),
  );
}

/**
 * Returns the delivery of the script of the current run. Compares the epochs, because a process of an earlier release
 * leaves the delivery of an ended run in the record.
 */
function liveDelivery(s: On<"setting_up">): SetupDelivery | null {
  return s.setup_delivery?.epoch === s.setup_epoch ? s.setup_delivery : null;
}

/**
 * Returns the delivery of the script of a run that just succeeded. The record keeps the delivery until the run's
 * deadline. If the answer to the script's last report was lost, the script repeats the report. Any booter can then
 * confirm that the run succeeded.
 */
export function completedDelivery(s: On<"setting_up">): SetupDelivery | null {
  const delivery = liveDelivery(s);
  return delivery === null ? null : { ...delivery, completed: true };
}

/** Forgets the delivery of the script of a run that succeeded, after the run's deadline. */
export function forgetDelivery(s: On<"approved">, _m: Msg<"tick">, now: Date): Out<CnState> {
  if (s.setup_delivery === null || now <= addMs(s.approved_at, SETUP_LIMIT_MS)) return { out: "ignore" };
  return go({ ...s, setup_delivery: null });
}
