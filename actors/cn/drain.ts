// The drain of a node. One commit cordons the node and starts the operation cn-drain. A background worker then begins the
// migrations (src/workers/drains.ts) and ends the operation.
import { DRAIN } from "../../src/lib/placement/node-filters.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import type { DrainPreview } from "../../src/contract/placement.ts";
import { audit, go, guard, lock, reply, upsert, withNewActor } from "../engine/effects.ts";
import type { Out } from "../engine/types.ts";
import type { Msg } from "./messages.ts";
import { type CnState, type On, resource } from "./state.ts";

/** The saga, its step that commits with the request, and its step that the background worker ends. */
export const CN_DRAIN = { saga: "cn-drain", cordoned: "cordon", move: "move" } as const;

export type CnDrainParams = { readonly server_uuid: string; readonly preview: DrainPreview };

export function drain(s: On<"approved">, { operation_id, preview }: Msg<"drain">): Out<CnState> {
  const { server_uuid } = s;
  const placement = { ...s.placement, cordoned: true, cordoned_reason: DRAIN };
  const params: CnDrainParams = { server_uuid, preview };
  return go<CnState>(
    { ...s, placement },
    lock(lockKey("cn", server_uuid)),
    guard("cn_is_not_draining", { server_uuid }, "operation <WHAT> drains the node already"),
    upsert("cn_placement", ["server_uuid"], { server_uuid, ...placement }),
    withNewActor({ kind: "saga", id: operation_id }, {
      type: "start",
      id: operation_id,
      saga: CN_DRAIN.saga,
      params,
      references: [{ scope: "cn", id: server_uuid }],
      done: { [CN_DRAIN.cordoned]: { cordoned_reason: DRAIN } },
    }),
    audit("cn_drain", resource(s), { server_uuid, operation_id }),
    reply({ ...preview, operation_id }),
  );
}
