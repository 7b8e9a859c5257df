// A floating IP follows its instance to another node. Once the move of the instance is committed, the network document
// of the new node has the address. The new node gets a job, which only records the binding there. The old node removes
// its own record of the binding together with the instance's machine.
import { go } from "../engine/effects.ts";
import { stepId } from "../engine/saga.ts";
import type { Of } from "../engine/table.ts";
import type { Out } from "../engine/types.ts";
import type { FloatingIpMessage } from "./messages.ts";
import { noted } from "./notices.ts";
import { boundOf, claimOrder, sent } from "./operation.ts";
import { atRest, type Attached, type FloatingIpState } from "./state.ts";

type Moved = Of<FloatingIpMessage, "instance_moved">;

export function follow(s: Attached, m: Moved, now: Date): Out<FloatingIpState> {
  const { instance_id, host_cn_uuid, operation_id } = m;
  if (s.bound.instance_id !== instance_id) return { out: "ignore" };
  const bound = { ...s.bound, host_cn_uuid };
  const generation = s.generation + 1;
  return go<FloatingIpState>(
    { ...atRest(s, bound), generation, updated_at: now },
    sent(claimOrder(boundOf(s), { ...bound, generation }), { id: stepId(operation_id, "claim", s.id), operation_id }),
    noted(s, "floating_ip_instance_moved", { instance_id, host_cn_uuid, operation_id }),
  );
}
