// Upgrades a node to a platform image. The first step commits with the message `upgrade` of the node (cn/upgrade.ts). A
// background worker drains the node and ends the step `drain`. The worker ends the step `return` when the node reports
// that it booted the image (src/workers/upgrades.ts). If the upgrade fails, the boot records get their previous images
// back, and the node stays cordoned. If an operator had cordoned the node before the upgrade, the node gets the
// operator's reason back.
import {
  DRAIN_LIMIT_MS,
  REBOOT_BY_OPERATOR_LIMIT_MS,
  REBOOT_JOB_LIMIT_MS,
  REBOOT_LIMIT_MS,
} from "../../src/contract/limits.ts";
import { DRAIN } from "../../src/lib/placement/node-filters.ts";
import type { UpgradedRecord } from "../cn/messages.ts";
import { CN_UPGRADE, type CnUpgradeParams, type UpgradeDrained } from "../cn/upgrade.ts";
import { guard, tell, withActor } from "../engine/effects.ts";
import { job, saga, type StepPart, wait, write } from "../engine/saga.ts";

/**
 * The background worker ends the step `return` at its time limit and gives a reason. If no worker runs, the step ends
 * this much later, with a general reason.
 */
export const WORKER_GRACE_MS = 5 * 60_000;

/** The reason that the cordon gets after the upgrade if the operator had given none. */
const CORDONED_BEFORE = "cordoned before the upgrade";

export const cnUpgrade = saga<CnUpgradeParams>(CN_UPGRADE.saga)
  .step(CN_UPGRADE.cordoned, {
    do: () => write({ cordoned_reason: DRAIN }),
    undo: ({ params: { server_uuid, stays_cordoned } }) =>
      // If the node was removed, it refuses the tell, and the upgrade still ends.
      write(
        null,
        ...(stays_cordoned === null ? [] : [tell({ kind: "cn", id: server_uuid }, cordonAfter(stays_cordoned))]),
      ),
  })
  .step(CN_UPGRADE.drain, { kind: "wait", do: () => wait<UpgradeDrained>(DRAIN_LIMIT_MS) })
  .step(CN_UPGRADE.assign, {
    do: ({ params: { server_uuid, platform_image, records } }) =>
      write(
        { platform_image },
        guard("no_instance_on_cn", { server_uuid }, "instances are on the node again; drain it and upgrade it again"),
        ...records.map(({ mac }) => assigns({ mac, assigned_pi: platform_image })),
      ),
    undo: ({ params: { records } }) => write(null, ...records.map(assigns)),
  })
  .step(CN_UPGRADE.reboot, {
    kind: "job",
    do: ({ params: { server_uuid, platform_image, reboot }, drain: { boot_id } }) =>
      reboot === "operator" ? write(null) : job({
        kind: "reboot",
        target_cn: server_uuid,
        payload: { boot_id, platform_image },
        limit_ms: REBOOT_JOB_LIMIT_MS,
      }),
  })
  .step(CN_UPGRADE.back, {
    kind: "wait",
    do: ({ params: { reboot } }) =>
      wait<{ readonly boot_id: string }>(
        (reboot === "operator" ? REBOOT_BY_OPERATOR_LIMIT_MS : REBOOT_LIMIT_MS) + WORKER_GRACE_MS,
      ),
  })
  .step(CN_UPGRADE.uncordon, {
    do: ({ params: { server_uuid, stays_cordoned } }) =>
      write(
        { cordoned: stays_cordoned !== null },
        withActor({ kind: "cn", id: server_uuid }, cordonAfter(stays_cordoned)),
      ),
  });

function assigns({ mac, assigned_pi }: UpgradedRecord): StepPart {
  return withActor({ kind: "boot-record", id: mac }, { type: "assign", platform_image: assigned_pi });
}

/**
 * Returns the message that uncordons the node. If an operator had cordoned the node before the upgrade, the message
 * instead restores the operator's reason, which the drain replaced.
 */
function cordonAfter(stays: CnUpgradeParams["stays_cordoned"]) {
  const patch = stays === null ? { cordoned: false } : { cordoned_reason: stays.reason ?? CORDONED_BEFORE };
  // An operator may have cordoned the node for another reason during the upgrade.
  return { type: "set_placement", patch, while_cordoned_for: DRAIN };
}
