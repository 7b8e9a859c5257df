// Ends an operation on a binding: the operation succeeds, or it rolls back.
import { conflict } from "../../src/contract/fault.ts";
import { go, refuse, tell } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Out, With } from "../engine/types.ts";
import type { FloatingIpMessage } from "./messages.ts";
import { noted, unbound } from "./notices.ts";
import { boundOf, claimOrder, failedRelease, releaseOrder, sent } from "./operation.ts";
import {
  atRest,
  type Attaching,
  bindingOf,
  type Busy,
  type Detaching,
  fieldsOf,
  type FloatingIpState,
  named,
  operationKind,
} from "./state.ts";

type Msg<T extends FloatingIpMessage["type"]> = Of<FloatingIpMessage, T>;

/**
 * Ends an attach. Removes the floating IP from the old instance's record, unless the new NIC belongs to the same
 * instance.
 */
export function attached(s: Attaching, { operation_id }: Msg<"attached">, now: Date): Out<FloatingIpState> {
  if (s.operation_id !== operation_id) return { out: "ignore" };
  if (s.to === null) return refuse(conflict("the instance was deleted meanwhile"));
  return go<FloatingIpState>(
    { ...atRest(s, s.to), updated_at: now },
    ...unbound(s, s.from?.instance_id, s.to.instance_id),
    noted(s, "floating_ip_attached", { ...named(s.to), operation_id }),
  );
}

export function detached(s: Detaching, { operation_id }: Msg<"detached">, now: Date): Out<FloatingIpState> {
  if (s.operation_id !== operation_id) return { out: "ignore" };
  return go<FloatingIpState>(
    { ...atRest(s, null), updated_at: now },
    ...unbound(s, s.from?.instance_id, undefined),
    noted(s, "floating_ip_detached", { ...named(s.from), operation_id }),
  );
}

/**
 * Enqueues the job with which the node that released the address binds it again. If the instance of the old binding is
 * deleted, enqueues no job.
 */
export function reclaim(s: Busy, m: Msg<"reclaim">): Out<FloatingIpState> {
  const { operation_id, told_as, waits } = m;
  const { from } = s;
  if (s.operation_id !== operation_id || from === null) return nothingToReclaim(s, m);
  const generation = s.generation + 1;
  const claim = sent(claimOrder(boundOf(s), { ...from, generation }), { id: told_as, operation_id });
  if (!waits) return go<FloatingIpState>({ ...withoutReclaim(s), generation }, claim);
  return go<FloatingIpState>(
    {
      ...fieldsOf(s),
      state: "reclaiming",
      operation_id,
      operation_kind: operationKind(s),
      reclaimed_as: told_as,
      to: s.state === "detaching" ? null : s.to,
      from,
      generation,
    },
    claim,
  );
}

/** Reports the end of the reclaim at once if the operation waits for the reclaim. */
export function nothingToReclaim(s: FloatingIpState | null, m: Msg<"reclaim">): Out<FloatingIpState> {
  return m.waits ? go<FloatingIpState>(s, reclaimed(m)) : { out: "ignore" };
}

/** Reports the end of a reclaim to the operation. */
export function reclaimed({ operation_id, told_as }: Pick<Msg<"reclaim">, "operation_id" | "told_as">) {
  return tell({ kind: "saga", id: operation_id }, { type: "job_ended", job_id: told_as, outcome: "completed" });
}

/** Returns the state that the operation had before it asked the old node to bind the address again. */
export function withoutReclaim(s: Busy): Attaching | Detaching {
  if (s.state !== "reclaiming") return s;
  const { operation_id, to, from } = s;
  return s.operation_kind === "attach"
    ? { ...fieldsOf(s), state: "attaching", operation_id, to, from, lost_cn: null }
    : { ...fieldsOf(s), state: "detaching", operation_id, from };
}

/** Ends an operation that failed: the binding from before the operation applies again. */
export function restore(s: Busy, { operation_id, reason }: Msg<"restore">, now: Date): Out<FloatingIpState> {
  if (s.operation_id !== operation_id) return { out: "ignore" };
  const target = bindingOf(s);
  return go<FloatingIpState>(
    { ...atRest(s, s.from), updated_at: now },
    ...releasedByNew(s),
    ...unbound(s, target?.instance_id, s.from?.instance_id),
    noted(s, `floating_ip_${operationKind(s)}_failed`, { operation_id, reason }),
  );
}

/**
 * After a failed attach of a floating IP that had no binding, enqueues a job with which the new node releases the
 * address. The job ends when the node has applied a network document without the address. No operation waits for the
 * job. If the floating IP had a binding, the new node needs no job, because no network document gave it the address
 * (see servedNic).
 */
function releasedByNew(s: Busy): With[] {
  if (s.state !== "attaching" || s.from !== null || s.lost_cn !== null || s.to === null) return [];
  const { operation_id, to, generation } = s;
  return [sent(releaseOrder(boundOf(s), { ...to, generation }), { id: failedRelease(operation_id), operation_id })];
}
