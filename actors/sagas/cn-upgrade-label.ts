// Upgrades the nodes with a label. The first step commits with the request. The second step waits for the background
// worker, which begins the upgrades of the nodes and reports the end (src/workers/upgrades.ts). An abandoned operation
// begins no more upgrades. Upgrades that have begun continue.
import type { LabelUpgradeResult } from "../../src/contract/label-upgrade.ts";
import { LABEL_DRAIN_LIMIT_MS } from "../../src/contract/limits.ts";
import { CN_UPGRADE_LABEL, type LabelUpgradeParams } from "../cn/messages.ts";
import { audit } from "../engine/effects.ts";
import { saga, wait, write } from "../engine/saga.ts";

export const cnUpgradeLabel = saga<LabelUpgradeParams>(CN_UPGRADE_LABEL.saga)
  .step(CN_UPGRADE_LABEL.begun, {
    follows: true,
    do: ({ params: { label, platform_image, reboot, max_unavailable, nodes }, saga_id }) =>
      write(
        null,
        audit("cn_upgrade_label", `Operation::"${saga_id}"`, {
          operation_id: saga_id,
          label,
          platform_image,
          reboot,
          max_unavailable,
          nodes: nodes.map(({ server_uuid }) => server_uuid),
        }),
      ),
  })
  .step(CN_UPGRADE_LABEL.upgrade, { kind: "wait", do: () => wait<LabelUpgradeResult>(LABEL_DRAIN_LIMIT_MS) });
