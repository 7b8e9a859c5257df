// The floating IPs of an instance. The record knows what is bound to its NICs, so that all of it is let go when it goes. None
// comes or leaves while the instance is being made or deleted, so that what its node does last about it is the last of all.
import { conflict, NOT_FOUND } from "../../src/contract/fault.ts";
import { go, guard, refuse } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Condition, Out } from "../engine/types.ts";
import type { InstanceMessage } from "./messages.ts";
import type { InstanceState } from "./state.ts";

type Msg<T extends InstanceMessage["type"]> = Of<InstanceMessage, T>;

export function bind(s: InstanceState, m: Msg<"floating_ip_bound">): Out<InstanceState> {
  const { floating_ip_id, nic_id, host_cn_uuid } = m;
  if (!s.nics.some(({ id }) => id === nic_id)) return refuse(NOT_FOUND);
  if (s.host_cn_uuid !== host_cn_uuid) return refuse(conflict(`instance ${s.id} is not on node ${host_cn_uuid}`));
  if (s.operation_kind === "create") return refuse(conflict(`instance ${s.id} is being created`));
  if (s.operation_kind === "delete") return refuse(conflict(`instance ${s.id} is being deleted`));
  if (s.floating_ip_ids.includes(floating_ip_id)) return { out: "ignore" };
  return go({ ...s, floating_ip_ids: [...s.floating_ip_ids, floating_ip_id] });
}

/** It stays the instance's until it is bound elsewhere. */
export function mayMove(s: InstanceState, _m: Msg<"floating_ip_moves">): Out<InstanceState> {
  if (s.operation_kind === "delete") return refuse(conflict(`instance ${s.id} is being deleted`));
  return { out: "ignore" };
}

export function unbind(s: InstanceState, { floating_ip_id }: Msg<"floating_ip_unbound">): Out<InstanceState> {
  if (!s.floating_ip_ids.includes(floating_ip_id)) return { out: "ignore" };
  return go({ ...s, floating_ip_ids: s.floating_ip_ids.filter((id) => id !== floating_ip_id) });
}

/** No floating IP is on its way to the instance or away from it. */
export function noneMoves({ id: instance_id }: InstanceState): Condition {
  const text = `operation <WHAT> is at work on a floating ip of instance ${instance_id}`;
  return guard("floating_ips_rest", { instance_id }, text);
}
