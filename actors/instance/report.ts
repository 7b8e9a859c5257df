// A node's reports about an instance. The reported state replaces the recorded state, unless an operation on the
// instance is in flight (docs/nodes.md).
import type { InstanceState as Name } from "../../src/contract/enums.ts";
import { conflict } from "../../src/contract/fault.ts";
import { go, guard } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Condition, Out } from "../engine/types.ts";
import { noted } from "./lifecycle.ts";
import type { InstanceMessage } from "./messages.ts";
import type { InstanceState } from "./state.ts";
import { MISSED_REPORTS_MAX } from "./view.ts";

type Msg<T extends InstanceMessage["type"]> = Of<InstanceMessage, T>;

/** The recorded state for each reported state. Any other reported state does not change the recorded state. */
const MEANS: Readonly<Record<string, Name>> = {
  running: "running",
  stopped: "stopped",
  installed: "stopped",
  provisioning: "provisioning",
  failed: "failed",
};

export function reported(s: InstanceState, m: Msg<"reported">, now: Date): Out<InstanceState> {
  if (!counts(s, m)) return { out: "ignore" };
  const state = meaning(s, m.vm_state);
  const seen = { ...s, missed_reports: 0, reported_at: dateOf(m) ?? s.reported_at };
  if (state === undefined || state === s.state) {
    return s.missed_reports === 0 ? { out: "ignore" } : go({ ...seen, reason: s.reason }, ...whileLast(m));
  }
  const reason = state === "failed" ? m.vm_reason ?? "its node reports it as failed" : null;
  return go(
    { ...seen, state, reason, updated_at: now },
    ...whileLast(m),
    noted(s, "instance_reported", { from: s.state, to: state }),
  );
}

/**
 * Returns the instance's state according to a report, or undefined if the report does not change the state. For a
 * running or stopped instance, a report that the VM is provisioning is ignored: only an operation provisions a VM, so
 * the node made the report before the last operation ended.
 */
function meaning(s: InstanceState, vm_state: string): Name | undefined {
  const state = Object.hasOwn(MEANS, vm_state) ? MEANS[vm_state] : undefined;
  return state === "provisioning" && (s.state === "running" || s.state === "stopped") ? undefined : state;
}

/**
 * Counts reports that omit the instance. Two in a row mark the instance as missing and change nothing else, because a
 * report may be wrong.
 */
export function missed(s: InstanceState, m: Msg<"missed">): Out<InstanceState> {
  if (!counts(s, m) || s.missed_reports >= MISSED_REPORTS_MAX) return { out: "ignore" };
  return go({ ...s, missed_reports: s.missed_reports + 1, reported_at: dateOf(m) ?? s.reported_at }, ...whileLast(m));
}

/** Returns whether the report counts: it is from the instance's node and no operation is in flight. */
function counts(s: InstanceState, m: Msg<"reported"> | Msg<"missed">): boolean {
  return s.host_cn_uuid === m.by && s.operation_id === null;
}

/** Checks that no newer status report of the node arrived. */
function whileLast({ by, status_id }: Msg<"reported"> | Msg<"missed">): readonly Condition[] {
  return status_id === null ? [] : [guard("status_is_last", { server_uuid: by, status_id }, LATE)];
}

const LATE = conflict("a newer status report of the node already arrived");

function dateOf({ made_at }: { readonly made_at: string | null }): Date | null {
  return made_at === null ? null : new Date(made_at);
}
