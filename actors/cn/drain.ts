// The drain of a node, and the evacuation of a dead node. One commit cordons the node and starts the operation. A
// background worker then moves the instances (src/workers/drains.ts) and ends the operation.
import type { AuditAction } from "../../src/contract/audit-actions.ts";
import { DRAIN } from "../../src/lib/placement/node-filters.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { CN_LIVE_S } from "../../src/contract/limits.ts";
import type { DrainPreview } from "../../src/contract/placement.ts";
import { audit, go, guard, lock, reply, upsert, withNewActor } from "../engine/effects.ts";
import type { Condition, Out } from "../engine/types.ts";
import type { Msg } from "./messages.ts";
import { type CnState, type On, resource } from "./state.ts";

/**
 * The saga that drains a node. The step `cordon` commits with the request. A background worker ends the step `move`.
 */
export const CN_DRAIN = { saga: "cn-drain", cordoned: "cordon", move: "move" } as const;
/** The saga that evacuates a dead node. Its steps have the same names as in cn-drain. */
export const CN_EVACUATE = { saga: "cn-evacuate", cordoned: "cordon", move: "move" } as const;

export type CnDrainParams = { readonly server_uuid: string; readonly preview: DrainPreview };

export function drain(s: On<"approved">, m: Msg<"drain">): Out<CnState> {
  const { server_uuid } = s;
  const alone = guard("cn_is_not_draining", { server_uuid }, "operation <WHAT> already drains or evacuates the node");
  const part = m.part_of === undefined
    ? []
    : [guard("operation_runs", { id: m.part_of }, `operation ${m.part_of} is not running any more`)];
  return emptied(s, m, { saga: CN_DRAIN.saga, conditions: [...part, alone], action: "cn_drain" });
}

const EMPTIED = "operation <WHAT> already drains or evacuates the node; wait for its end, or abandon it";
const ALIVE = "the node was seen at <WHAT>, so it is not dead; drain it, or power it off and wait " +
  `${CN_LIVE_S} s`;

export function evacuate(s: On<"approved">, m: Msg<"evacuate">): Out<CnState> {
  const { server_uuid } = s;
  const conditions = [
    guard("cn_is_silent", { server_uuid, live_s: CN_LIVE_S }, ALIVE),
    guard("cn_is_not_draining", { server_uuid }, EMPTIED),
  ];
  return emptied(s, m, { saga: CN_EVACUATE.saga, conditions, action: "cn_evacuate" });
}

type Emptying = {
  readonly saga: string;
  readonly conditions: readonly Condition[];
  /** The action in the audit log. */
  readonly action: AuditAction;
};

function emptied(s: On<"approved">, m: Msg<"drain"> | Msg<"evacuate">, { saga, conditions, action }: Emptying) {
  const { server_uuid } = s;
  const { operation_id, preview } = m;
  const placement = { ...s.placement, cordoned: true, cordoned_reason: DRAIN };
  const params: CnDrainParams = { server_uuid, preview };
  return go<CnState>(
    { ...s, placement },
    lock(lockKey("cn", server_uuid)),
    ...conditions,
    upsert("cn_placement", ["server_uuid"], { server_uuid, ...placement }),
    withNewActor({ kind: "saga", id: operation_id }, {
      type: "start",
      id: operation_id,
      saga,
      params,
      references: [{ scope: "cn", id: server_uuid }],
      done: { [CN_DRAIN.cordoned]: { cordoned_reason: DRAIN } },
    }),
    audit(action, resource(s), { server_uuid, operation_id }),
    reply({ ...preview, operation_id }),
  );
}
