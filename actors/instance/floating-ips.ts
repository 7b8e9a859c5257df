// The floating IPs of an instance. The removal of the instance detaches them. While the instance is being created,
// migrated or deleted, no floating IP can be attached or detached. So a node gets no job for a floating IP of the
// instance while the node creates, moves or deletes the instance's machine.
import { conflict, NOT_FOUND } from "../../src/contract/fault.ts";
import { go, guard, refuse } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Condition, Out } from "../engine/types.ts";
import type { InstanceMessage } from "./messages.ts";
import type { InstanceState } from "./state.ts";

type Msg<T extends InstanceMessage["type"]> = Of<InstanceMessage, T>;

export function bind(s: InstanceState, m: Msg<"floating_ip_bound">): Out<InstanceState> {
  const { floating_ip_id, family, nic_id, host_cn_uuid } = m;
  const nic = s.nics.find(({ id }) => id === nic_id);
  if (nic === undefined) return refuse(NOT_FOUND);
  if ((family === "v4" ? nic.primary_ipv4 : nic.primary_ipv6) === null) {
    return refuse(conflict(`nic ${nic_id} has no ${family} address, which the ${family} floating IP needs`));
  }
  if (s.host_cn_uuid !== host_cn_uuid) return refuse(conflict(`instance ${s.id} is not on node ${host_cn_uuid}`));
  if (s.operation_kind === "create") return refuse(conflict(`instance ${s.id} is being created`));
  if (s.operation_kind === "delete") return refuse(conflict(`instance ${s.id} is being deleted`));
  if (s.operation_kind === "migrate") return refuse(conflict(`instance ${s.id} is being migrated`));
  if (s.floating_ip_ids.includes(floating_ip_id)) return { out: "ignore" };
  return go({ ...s, floating_ip_ids: [...s.floating_ip_ids, floating_ip_id] });
}

/**
 * Decides whether a floating IP may be detached from this instance or move to another one. Refuses while this instance
 * is being deleted or migrated. The floating IP stays in the record of this instance until the operation of the
 * floating IP ends.
 */
export function mayMove(s: InstanceState, _m: Msg<"floating_ip_moves">): Out<InstanceState> {
  if (s.operation_kind === "delete") return refuse(conflict(`instance ${s.id} is being deleted`));
  if (s.operation_kind === "migrate") return refuse(conflict(`instance ${s.id} is being migrated`));
  return { out: "ignore" };
}

export function unbind(s: InstanceState, { floating_ip_id }: Msg<"floating_ip_unbound">): Out<InstanceState> {
  if (!s.floating_ip_ids.includes(floating_ip_id)) return { out: "ignore" };
  return go({ ...s, floating_ip_ids: s.floating_ip_ids.filter((id) => id !== floating_ip_id) });
}

/** Checks that no operation on the instance's floating IPs is in flight. */
export function noneMoves({ id: instance_id }: InstanceState): Condition {
  const text = `operation <WHAT> still runs on a floating ip of instance ${instance_id}; wait for it to end`;
  return guard("floating_ips_rest", { instance_id }, text);
}
