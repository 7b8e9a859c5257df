// The start of an operation that binds a floating IP to a NIC, moves it to another NIC or unbinds it. The commit of the
// message writes the next state and starts the operation, whose jobs change the nodes. When an address moves, its old
// node releases it before the new node claims it. An operation does not wait for an old node that is not live
// (docs/networking.md).
import { conflict, type Fault, fault } from "../../src/contract/fault.ts";
import { CN_LIVE_S } from "../../src/contract/limits.ts";
import { go, guard, otherwise, refuse } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Condition, Out, Part } from "../engine/types.ts";
import type { FloatingIpMessage } from "./messages.ts";
import { noted, toInstance } from "./notices.ts";
import {
  begin,
  boundOf,
  FLOATING_IP_ATTACH,
  FLOATING_IP_DETACH,
  type FloatingIpAttachParams,
  type FloatingIpDetachParams,
  type Held,
} from "./operation.ts";
import {
  type AtRest,
  atRest,
  type Attaching,
  type Binding,
  bindingOf,
  type Busy,
  type Detaching,
  fieldsOf,
  type FloatingIpState,
  named,
  operationKind,
} from "./state.ts";
import { floatingIpView } from "./view.ts";

type Msg<T extends FloatingIpMessage["type"]> = Of<FloatingIpMessage, T>;
type Parts = readonly Part<FloatingIpState>[];

export function attach(s: AtRest, m: Msg<"attach">, now: Date): Out<FloatingIpState> {
  const { nic_id, instance_id, vpc_id, host_cn_uuid, operation_id, limit_ms } = m;
  if (host_cn_uuid === null) {
    return refuse(conflict(`instance ${instance_id} is not placed on a CN yet; wait for its creation to end`));
  }
  const to = { nic_id, instance_id, host_cn_uuid, vpc_id };
  const from = bindingOf(s);
  const stays = from?.nic_id === nic_id;
  const generation = s.generation + (stays ? 0 : 1);
  const operation = { operation_id, to, from, lost_cn: null };
  const next: Attaching = { ...fieldsOf(s), state: "attaching", ...operation, generation, updated_at: now };
  const partsFor = (held: Held | null): Parts => {
    const params: FloatingIpAttachParams = {
      floating_ip_id: s.id,
      bound: boundOf(s),
      to: stays ? null : { ...to, generation },
      held,
      limit_ms,
      floating_ip: floatingIpView(next),
    };
    return [
      ...(from === null ? [released(s, to)] : []),
      ...offersTag(s, to),
      toInstance(instance_id, {
        type: "floating_ip_bound",
        floating_ip_id: s.id,
        family: s.family,
        nic_id,
        host_cn_uuid,
      }),
      ...(from === null ? [] : [toInstance(from.instance_id, { type: "floating_ip_moves", floating_ip_id: s.id })]),
      begin(next, {
        id: operation_id,
        saga: FLOATING_IP_ATTACH.saga,
        params,
        done: { [FLOATING_IP_ATTACH.bound]: to },
        about: [to, from],
      }),
      noted(s, "floating_ip_attach", { ...named(to), from_nic_id: from?.nic_id ?? null, operation_id }),
    ];
  };
  return stays ? go<FloatingIpState>(next, ...partsFor(null)) : releasing(s, next, partsFor);
}

export function detach(s: AtRest, m: Msg<"detach">, now: Date): Out<FloatingIpState> {
  const { operation_id, limit_ms } = m;
  const from = bindingOf(s);
  const next: Detaching = { ...fieldsOf(s), state: "detaching", operation_id, from, updated_at: now };
  return releasing(s, next, (held) => {
    const floating_ip = floatingIpView(atRest(next, null));
    const params: FloatingIpDetachParams = { floating_ip_id: s.id, bound: boundOf(s), held, limit_ms, floating_ip };
    return [
      ...(from === null ? [] : [toInstance(from.instance_id, { type: "floating_ip_moves", floating_ip_id: s.id })]),
      begin(next, {
        id: operation_id,
        saga: FLOATING_IP_DETACH.saga,
        params,
        done: { [FLOATING_IP_DETACH.begun]: from },
        about: [from],
      }),
      noted(s, "floating_ip_detach", { ...named(from), operation_id }),
    ];
  });
}

/** Begins an operation that ends the current binding. The operation waits for the node only if the node is live. */
function releasing(s: AtRest, next: Busy, partsFor: (held: Held | null) => Parts): Out<FloatingIpState> {
  const from = bindingOf(s);
  if (from === null) return go<FloatingIpState>(next, ...partsFor(null));
  const held = { ...from, generation: s.generation };
  return go<FloatingIpState>(
    next,
    guard("cn_is_live", { server_uuid: from.host_cn_uuid, live_s: CN_LIVE_S }, NOT_LIVE),
    ...partsFor({ ...held, live: true }),
    otherwise(go<FloatingIpState>(next, ...partsFor({ ...held, live: false }))),
  );
}

/**
 * This fault never reaches a caller: when the guard fails, the commit applies the alternative that does not wait for
 * the node.
 */
const NOT_LIVE = conflict("the node is not live");

/**
 * Returns the guard that refuses the attach while another live node can still answer for the address, or while the new
 * node still releases the address from the same NIC. Nodes that are not live do not count, so an address can be moved
 * away from a dead node.
 */
function released(s: AtRest, { nic_id, host_cn_uuid: server_uuid }: Binding): Condition {
  const args = { floating_ip_id: s.id, server_uuid, nic_id, live_s: CN_LIVE_S };
  // The guard's text also says whether the node still releases the address or has failed to release it.
  return guard("floating_ip_is_released", args, conflict(stillHeld(s)));
}

/** Returns the text of the 409 that names the node that still has the address. */
export function stillHeld({ id, address }: Pick<AtRest, "id" | "address">): string {
  return `floating ip ${id} (${address}) is still held by node <WHAT>`;
}

function offersTag({ external_nic_tag: nic_tag }: AtRest, { host_cn_uuid: server_uuid }: Binding): Condition[] {
  if (nic_tag === null) return [];
  const text = `node ${server_uuid} does not offer NIC tag ${nic_tag}`;
  return [
    guard("cn_offers_nic_tag", { server_uuid, nic_tag }, fault("conflict", text, { error_code: "NicTagNotProvided" })),
  ];
}

/** Refuses a change while an operation is running. */
export function occupied(s: Busy): Out<FloatingIpState> {
  return refuse(operationRuns(s));
}

/** Returns the 409 that names the running operation. */
export function operationRuns(s: Busy): Fault {
  return conflict(
    `operation ${s.operation_id} (${operationKind(s)}) still runs on floating ip ${s.id}; wait for it to end`,
  );
}
