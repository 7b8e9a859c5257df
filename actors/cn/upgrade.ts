// The upgrade of a node to a platform image. One commit cordons the node and starts the operation
// (sagas/cn-upgrade.ts). A guard of that commit refuses the upgrade if the id of the new operation is already in use.
// So a process with an outdated state cannot cordon the node again after the upgrade.
import { DRAIN } from "../../src/lib/placement/node-filters.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { audit, go, guard, lock, reply, upsert, withNewActor } from "../engine/effects.ts";
import type { Out } from "../engine/types.ts";
import type { Msg, UpgradedRecord, UpgradeWanted } from "./messages.ts";
import { type CnState, type On, resource } from "./state.ts";

/** The saga that upgrades one node, and its steps. The background worker ends the steps `drain` and `return`. */
export const CN_UPGRADE = {
  saga: "cn-upgrade",
  cordoned: "cordon",
  drain: "drain",
  assign: "assign",
  reboot: "reboot",
  back: "return",
  uncordon: "uncordon",
} as const;

/** The parameters of this saga. */
export type CnUpgradeParams = UpgradeWanted & {
  readonly server_uuid: string;
  readonly records: readonly UpgradedRecord[];
  /**
   * Set if the node was already cordoned before the upgrade, for another reason than a drain. The node then stays
   * cordoned, with this reason.
   */
  readonly stays_cordoned: { readonly reason: string | null } | null;
};

/** The output of the step `drain`. `boot_id` identifies the node's boot before the restart. */
export type UpgradeDrained = { readonly operation_id: string; readonly moved: number; readonly boot_id: string };

export function upgrade(s: On<"approved">, m: Msg<"upgrade">): Out<CnState> {
  const { server_uuid, placement } = s;
  const { operation_id, platform_image, reboot, records, part_of } = m;
  const keeps = placement.cordoned && placement.cordoned_reason !== DRAIN;
  const params: CnUpgradeParams = {
    server_uuid,
    platform_image,
    reboot,
    records,
    stays_cordoned: keeps ? { reason: placement.cordoned_reason } : null,
  };
  const cordoned = { ...placement, cordoned: true, cordoned_reason: DRAIN };
  return go<CnState>(
    { ...s, placement: cordoned },
    lock(lockKey("cn", server_uuid)),
    guard("operation_runs", { id: part_of }, `operation ${part_of} is not running any more`),
    guard(
      "cn_is_not_upgrading",
      { server_uuid, operation_id },
      "operation <WHAT> already drains, evacuates or upgrades the node",
    ),
    upsert("cn_placement", ["server_uuid"], { server_uuid, ...cordoned }),
    withNewActor({ kind: "saga", id: operation_id }, {
      type: "start",
      id: operation_id,
      saga: CN_UPGRADE.saga,
      params,
      references: [{ scope: "cn", id: server_uuid }],
      done: { [CN_UPGRADE.cordoned]: { cordoned_reason: DRAIN } },
    }),
    audit("cn_upgrade", resource(s), { server_uuid, operation_id, platform_image, reboot }),
    reply({ operation_id }),
  );
}
