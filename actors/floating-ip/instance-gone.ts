// Ends a floating IP's binding to an instance that is deleted with its NICs. A normal delete is refused while an
// operation binds the floating IP to the instance or ends that binding. A forced delete is not refused, so such an
// operation may be in flight. A forced delete also does not wait for the instance's node, so this node must still
// release the address.
import { go, tell } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Out, Part } from "../engine/types.ts";
import type { FloatingIpMessage } from "./messages.ts";
import { noted } from "./notices.ts";
import { boundOf, forcedRelease, releaseOrder, sent } from "./operation.ts";
import { reclaimed, withoutReclaim } from "./operation-end.ts";
import { atRest, type Attached, type Binding, type Busy, type FloatingIpState } from "./state.ts";

type Gone = Of<FloatingIpMessage, "instance_gone">;
type Parts = readonly Part<FloatingIpState>[];

export function loseInstance(s: Attached, m: Gone, now: Date): Out<FloatingIpState> {
  if (s.bound.instance_id !== m.instance_id) return { out: "ignore" };
  return go<FloatingIpState>({ ...atRest(s, null), updated_at: now }, ...partsFor(s, m, [s.bound]));
}

/**
 * Abandons an attach that loses its new binding, and a detach that loses its binding. Otherwise the operation continues
 * without the lost binding. An attach that loses its old binding still waits for the old node to release the address.
 */
export function loseInstanceInOperation(s: Busy, m: Gone, now: Date): Out<FloatingIpState> {
  const isLost = (each: Binding | null) => each?.instance_id === m.instance_id;
  const bindings = s.state === "detaching" ? [s.from] : [s.to, s.from];
  const lost = new Map(bindings.flatMap((each) => each !== null && isLost(each) ? [[each.nic_id, each]] : []));
  if (lost.size === 0) return { out: "ignore" };
  return go<FloatingIpState>(
    { ...without(s, isLost), updated_at: now },
    ...partsFor(s, m, [...lost.values()], toOperation(s, isLost)),
  );
}

function without(s: Busy, isLost: (each: Binding | null) => boolean): Busy {
  const kept = (each: Binding | null) => isLost(each) ? null : each;
  const lostCn = (each: Binding | null) => isLost(each) ? each?.host_cn_uuid : undefined;
  switch (s.state) {
    case "attaching":
      return { ...s, to: kept(s.to), from: kept(s.from), lost_cn: lostCn(s.from) ?? s.lost_cn };
    case "detaching":
      return { ...s, from: null };
    case "reclaiming":
      return isLost(s.from) ? without(withoutReclaim(s), isLost) : { ...s, to: kept(s.to) };
  }
}

function toOperation(s: Busy, isLost: (each: Binding | null) => boolean): Parts {
  const { operation_id } = s;
  if (s.state === "reclaiming") {
    return isLost(s.from) ? [reclaimed({ operation_id, told_as: s.reclaimed_as })] : [];
  }
  const target = s.state === "attaching" ? s.to : s.from;
  return isLost(target) ? [tell({ kind: "saga", id: operation_id }, { type: "abandon" })] : [];
}

function partsFor(
  s: FloatingIpState,
  { instance_id, forced }: Gone,
  lost: readonly Binding[],
  others: Parts = [],
): Parts {
  return [
    ...(forced === null ? [] : lost.map((from) => {
      const order = releaseOrder(boundOf(s), { ...from, generation: s.generation });
      return sent(order, { id: forcedRelease(forced, s, from), operation_id: forced });
    })),
    ...others,
    noted(s, "floating_ip_instance_gone", { instance_id, nic_ids: lost.map(({ nic_id }) => nic_id) }),
  ];
}
