// A floating IP of a project. It holds one public address from the commit that creates it to the commit that deletes
// it. A delete is refused while the floating IP is attached, and while any node can still answer for the address
// (docs/networking.md).
import { conflict, isFault, NOT_FOUND } from "../../src/contract/fault.ts";
import { relabeled } from "../../src/lib/text/labels.ts";
import { renamed } from "../../src/lib/text/resource-name.ts";
import { audit, effect, go, guard, otherwise, refuse, release, remove } from "../engine/effects.ts";
import { type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Condition, Out } from "../engine/types.ts";
import { attach, detach, occupied, operationRuns, stillHeld } from "./binding.ts";
import { create, described } from "./creation.ts";
import { loseInstance, loseInstanceInOperation } from "./instance-gone.ts";
import { follow } from "./instance-moved.ts";
import type { FloatingIpMessage } from "./messages.ts";
import { attached, detached, nothingToReclaim, reclaim, restore } from "./operation-end.ts";
import { type FloatingIpRow, rowOf, servedNic, stateOf } from "./row.ts";
import { bindingOf, type Busy, type Detached, type FloatingIpState } from "./state.ts";
import { floatingIpRowView } from "./view.ts";

type Msg<T extends FloatingIpMessage["type"]> = Of<FloatingIpMessage, T>;

export const floatingIpTable: Table<FloatingIpState, FloatingIpMessage> = {
  create: { absent: create, ...always("floating ip exists already") },
  update: { absent: "missing", ...always(update) },
  delete: { absent: "missing", detached: destroy, attached: inUse, ...inOperation(inUse) },
  attach: { absent: "missing", detached: attach, attached: attach, ...inOperation(occupied) },
  detach: { absent: "missing", detached: detach, attached: detach, ...inOperation(occupied) },
  attached: { absent: "ignore", ...always("ignore"), attaching: attached },
  detached: { absent: "ignore", ...always("ignore"), detaching: detached },
  reclaim: {
    absent: nothingToReclaim,
    detached: nothingToReclaim,
    attached: nothingToReclaim,
    ...inOperation(reclaim),
  },
  restore: { absent: "ignore", detached: "ignore", attached: "ignore", ...inOperation(restore) },
  instance_gone: {
    absent: "ignore",
    detached: "ignore",
    attached: loseInstance,
    ...inOperation(loseInstanceInOperation),
  },
  instance_moved: { absent: "ignore", ...always("ignore"), attached: follow },
  withdraw: { absent: "ignore", detached: withdraw, attached: inUse, ...inOperation(inUse) },
};

function always<const C>(cell: C) {
  return { detached: cell, attaching: cell, attached: cell, detaching: cell, reclaiming: cell };
}

function inOperation<const C>(cell: C) {
  return { attaching: cell, detaching: cell, reclaiming: cell };
}

function update(s: FloatingIpState, m: Msg<"update">, now: Date): Out<FloatingIpState> {
  const next = renamed(s, m);
  if (isFault(next)) return refuse(next);
  const labels = relabeled(s.labels, m.labels ?? null);
  if (isFault(labels)) return refuse(labels);
  const { tenant_id, project_id } = s;
  const changed = { name: next.name, ...m.labels != null && { labels } };
  return go<FloatingIpState>(
    { ...next, labels, updated_at: now },
    audit("floating_ip_update", resource(s.id), { tenant_id, project_id, ...changed }),
  );
}

function destroy(s: Detached): Out<FloatingIpState> {
  return giveBack(s, {});
}

function withdraw(s: Detached, { operation_id }: Msg<"withdraw">): Out<FloatingIpState> {
  return giveBack(s, { operation_id });
}

/** Refuses a delete, because the floating IP is bound or an operation on it is in progress. */
function inUse(s: Exclude<FloatingIpState, Detached>): Out<FloatingIpState> {
  if (bindingOf(s) !== null) return refuse(conflict(`floating ip ${s.id} is currently attached; detach first`));
  return refuse(operationRuns(s as Busy));
}

function giveBack(s: Detached, of: { readonly operation_id?: string }): Out<FloatingIpState> {
  return go<FloatingIpState>(
    null,
    // Without this guard, a node could still answer for the address after the address has a new owner.
    guard(
      "floating_ip_is_off_nodes",
      { floating_ip_id: s.id },
      `${stillHeld(s)}, which has not released it yet`,
    ),
    release(s.pool_id, s.address),
    remove("public_address", { address: s.address }),
    audit("floating_ip_delete", resource(s.id), { ...described(s), ...of }),
  );
}

function resource(id: string): string {
  return `FloatingIp::"${id}"`;
}

/** Converts the row to its state, decides, and converts the next state to a row. */
function step(row: FloatingIpRow | null, message: FloatingIpMessage, now: Date): Out<FloatingIpRow> {
  return stored(row, runTable(floatingIpTable, row && stateOf(row), message, now));
}

/** Returns the decision with its state converted to a row. */
function stored(row: FloatingIpRow | null, out: Out<FloatingIpState>): Out<FloatingIpRow> {
  if (out.out !== "go") return out;
  const parts = out.parts.map((part) => part.part === "otherwise" ? otherwise(stored(row, part.out)) : part);
  const next = out.next && rowOf(out.next);
  return go(next, ...parts, ...served(row, next));
}

/** Increases the generation of the VPCs whose nodes begin or cease to serve the address. */
function served(before: FloatingIpRow | null, after: FloatingIpRow | null): Condition[] {
  const [from, to] = [before && servedNic(before), after && servedNic(after)];
  if (from === to) return [];
  return [effect("nics_changed", { nic_ids: [from, to].filter((id) => id !== null) })];
}

export const floatingIp: Behavior<FloatingIpRow, FloatingIpMessage> = {
  kind: "floating-ip",
  table: "floating_ip",
  from: "floating_ip_loaded",
  key: "id",
  step,
  deadline: () => null,
  view: floatingIpRowView,
  constraints: {
    floating_ip_name: conflict("a floating ip named <name> already exists in this project"),
    floating_ip_of_project: conflict("the project was deleted"),
    floating_ip_bound_to_nic: NOT_FOUND,
  },
};
