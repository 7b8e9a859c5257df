// How a floating IP is bound to a NIC, moves to another one and is let go: the message writes where it is to be and begins
// the operation, whose jobs do it on the nodes. One operation at a time. An address that moves is let go by one node before
// another one claims it; of a node that is not seen nobody waits for that. Document 3, Floating IP; document 4, 1.15, 3.2.
import { conflict, type Fault, fault } from "../../src/contract/fault.ts";
import { CN_LIVE_S } from "../../src/contract/limits.ts";
import { audit, go, guard, otherwise, refuse, tell, withActor } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Condition, Json, Out, Part, With } from "../engine/types.ts";
import type { FloatingIpMessage } from "./messages.ts";
import {
  begin,
  boundOf,
  claimOrder,
  FLOATING_IP_ATTACH,
  FLOATING_IP_DETACH,
  type FloatingIpAttachParams,
  type FloatingIpDetachParams,
  forcedRelease,
  type Held,
  releaseOrder,
  sent,
} from "./operation.ts";
import {
  AT_REST,
  type Binding,
  bindingOf,
  boundTo,
  type FloatingIpState,
  type Live,
  NO_PRIOR,
  priorOf,
  priorTo,
  UNBOUND,
} from "./state.ts";
import { floatingIpView } from "./view.ts";

type Msg<T extends FloatingIpMessage["type"]> = Of<FloatingIpMessage, T>;
type Parts = readonly Part<FloatingIpState>[];

export function attach(s: Live, m: Msg<"attach">, now: Date): Out<FloatingIpState> {
  const { nic_id, instance_id, host_cn_uuid, operation_id, limit_ms } = m;
  const busy = occupied(s);
  if (busy !== null) return refuse(busy);
  if (host_cn_uuid === null) return refuse(conflict(`instance ${instance_id} is not placed on a CN yet`));
  const to = { nic_id, instance_id, host_cn_uuid };
  const prior = bindingOf(s);
  const stays = prior?.nic_id === nic_id;
  const next: Live = {
    ...s,
    ...boundTo(to),
    ...priorTo(prior),
    operation_id,
    operation_kind: "attach",
    generation: s.generation + (stays ? 0 : 1),
    updated_at: now,
  };
  const partsFor = (held: Held | null): Parts => {
    const params: FloatingIpAttachParams = {
      floating_ip_id: s.id,
      bound: boundOf(s),
      to: stays ? null : { ...to, generation: next.generation },
      held,
      limit_ms,
      floating_ip: floatingIpView(next),
    };
    return [
      ...offersTag(s, to),
      toInstance(instance_id, { type: "floating_ip_bound", floating_ip_id: s.id, nic_id, host_cn_uuid }),
      ...(prior === null ? [] : [toInstance(prior.instance_id, { type: "floating_ip_moves", floating_ip_id: s.id })]),
      begin(next, {
        id: operation_id,
        saga: FLOATING_IP_ATTACH.saga,
        params,
        done: { [FLOATING_IP_ATTACH.bound]: to },
        about: [to, prior],
      }),
      noted(s, "floating_ip_attach", { ...to, from_nic_id: prior?.nic_id ?? null, operation_id }),
    ];
  };
  return stays ? go(next, ...partsFor(null)) : taking(s, next, partsFor);
}

export function detach(s: Live, m: Msg<"detach">, now: Date): Out<FloatingIpState> {
  const { operation_id, limit_ms } = m;
  const busy = occupied(s);
  if (busy !== null) return refuse(busy);
  const from = bindingOf(s);
  const next: Live = { ...s, operation_id, operation_kind: "detach", updated_at: now };
  return taking(s, next, (held) => {
    const floating_ip = floatingIpView({ ...next, ...UNBOUND });
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
      noted(s, "floating_ip_detach", { ...from, operation_id }),
    ];
  });
}

/** A node that is seen is waited for. Of one that is not, nobody knows when it will have let go of the address. */
function taking(s: Live, next: Live, partsFor: (held: Held | null) => Parts): Out<FloatingIpState> {
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

/** Nobody reads it: the other choice is taken then. */
const NOT_LIVE = conflict("the node is not seen");

function offersTag({ external_nic_tag: nic_tag }: Live, { host_cn_uuid: server_uuid }: Binding): Condition[] {
  if (nic_tag === null) return [];
  const text = `node ${server_uuid} does not offer NIC tag ${nic_tag}`;
  return [
    guard("cn_offers_nic_tag", { server_uuid, nic_tag }, fault("conflict", text, { error_code: "NicTagNotProvided" })),
  ];
}

/** 409 while an operation is at work on its binding, or null. */
export function occupied({ id, operation_id, operation_kind }: Live): Fault | null {
  if (operation_id === null) return null;
  return conflict(`operation ${operation_id} (${operation_kind}) is at work on floating ip ${id}`);
}

/** The end of an attach. What it was bound to before knows nothing of it any more. */
export function attached(s: Live, { operation_id }: Msg<"attached">, now: Date): Out<FloatingIpState> {
  if (s.operation_id !== operation_id) return { out: "ignore" };
  if (s.attached_instance_id === null) return refuse(conflict("the instance was deleted meanwhile"));
  return go<FloatingIpState>(
    { ...s, ...AT_REST, updated_at: now },
    ...unbound(s, s.prior_instance_id, s.attached_instance_id),
    noted(s, "floating_ip_attached", { ...bindingOf(s), operation_id }),
  );
}

export function detached(s: Live, { operation_id }: Msg<"detached">, now: Date): Out<FloatingIpState> {
  if (s.operation_id !== operation_id) return { out: "ignore" };
  return go<FloatingIpState>(
    { ...s, ...UNBOUND, ...AT_REST, updated_at: now },
    ...unbound(s, s.attached_instance_id, null),
    noted(s, "floating_ip_detached", { ...bindingOf(s), operation_id }),
  );
}

/** The node that let go of it binds it again; where its NIC is gone there is nothing to bind it to. */
export function reclaim(s: Live, m: Msg<"reclaim">): Out<FloatingIpState> {
  const { operation_id, told_as, waits } = m;
  const back = s.operation_id !== operation_id ? null : s.operation_kind === "attach" ? priorOf(s) : bindingOf(s);
  if (back === null) return waits ? go<FloatingIpState>(s, restored(m)) : { out: "ignore" };
  const generation = s.generation + 1;
  return go<FloatingIpState>(
    { ...s, generation, reclaimed_as: waits ? told_as : null },
    sent(claimOrder(boundOf(s), { ...back, generation }), { id: told_as, operation_id }),
  );
}

export function nothingToReclaim(_s: null, m: Msg<"reclaim">): Out<FloatingIpState> {
  return m.waits ? go<FloatingIpState>(null, restored(m)) : { out: "ignore" };
}

function restored({ operation_id, told_as }: Pick<Msg<"reclaim">, "operation_id" | "told_as">) {
  return tell({ kind: "saga", id: operation_id }, { type: "job_ended", job_id: told_as, outcome: "completed" });
}

export function restore(s: Live, { operation_id, reason }: Msg<"restore">, now: Date): Out<FloatingIpState> {
  if (s.operation_id !== operation_id) return { out: "ignore" };
  const note = noted(s, `floating_ip_${s.operation_kind}_failed`, { operation_id, reason });
  if (s.operation_kind === "detach") return go<FloatingIpState>({ ...s, ...AT_REST, updated_at: now }, note);
  const back = priorOf(s);
  return go<FloatingIpState>(
    { ...s, ...boundTo(back), ...AT_REST, updated_at: now },
    ...unbound(s, s.attached_instance_id, back?.instance_id ?? null),
    note,
  );
}

/**
 * The instance went with its NICs. An operation that wanted it is turned round, and one that waits for it has waited long
 * enough. Only a delete by force comes in the middle of one; its node has then still to let go of the address.
 */
export function letGo(s: Live, { instance_id, forced }: Msg<"instance_gone">, now: Date): Out<FloatingIpState> {
  const [target, prior] = [bindingOf(s), priorOf(s)];
  const isTarget = target?.instance_id === instance_id;
  const isPrior = prior?.instance_id === instance_id;
  if (!isTarget && !isPrior) return { out: "ignore" };
  const gone = new Map([isTarget ? target : null, isPrior ? prior : null]
    .flatMap((each) => each === null || each === undefined ? [] : [[each.nic_id, each] as const]));
  const reclaimed = s.operation_kind === "attach" ? isPrior : isTarget;
  return go<FloatingIpState>(
    {
      ...s,
      ...(isTarget ? UNBOUND : {}),
      ...(isPrior ? NO_PRIOR : {}),
      reclaimed_as: reclaimed ? null : s.reclaimed_as,
      updated_at: now,
    },
    ...(forced === null ? [] : [...gone.values()].map((from) => {
      const order = releaseOrder(boundOf(s), { ...from, generation: s.generation });
      return sent(order, { id: forcedRelease(forced, s, from), operation_id: forced });
    })),
    ...turned(s, { reclaimed, isTarget }),
    noted(s, "floating_ip_instance_gone", { instance_id, nic_ids: [...gone.keys()] }),
  );
}

function turned(s: Live, { reclaimed, isTarget }: { readonly reclaimed: boolean; readonly isTarget: boolean }): Parts {
  const { operation_id, reclaimed_as } = s;
  if (operation_id === null) return [];
  if (reclaimed_as !== null) return reclaimed ? [restored({ operation_id, told_as: reclaimed_as })] : [];
  return isTarget ? [tell({ kind: "saga", id: operation_id }, { type: "abandon" })] : [];
}

/** An instance forgets it, unless it keeps it. */
function unbound({ id: floating_ip_id }: Live, instance_id: string | null, kept: string | null): readonly With[] {
  if (instance_id === null || instance_id === kept) return [];
  return [toInstance(instance_id, { type: "floating_ip_unbound", floating_ip_id })];
}

function toInstance(id: string, message: { readonly type: string; readonly [field: string]: Json }): With {
  return withActor({ kind: "instance", id }, message);
}

function noted({ id, tenant_id, project_id, address }: Live, action: string, payload: Readonly<Record<string, Json>>) {
  return audit(action, `FloatingIp::"${id}"`, { tenant_id, project_id, address, ...payload });
}
