// Compares a node's status report with the records of the instances that are placed on the node. VMs with the identity
// of another instance, and VMs that have no record on this node, are ignored.
import { listReportable, type Reportable } from "../../actors/instance/reads.ts";
import { MISSED_REPORTS_MAX } from "../../actors/instance/view.ts";
import { JOB_REASON_CHARS_MAX } from "../contract/limits.ts";
import { nodeOf } from "./calling-node.ts";
import type { Ctx, RouteDeps } from "../routes/deps.ts";

/** Matches the years that ISO 8601 writes without a sign. PostgreSQL does not parse other years. */
const PLAIN_YEAR = /^[0-9]{4}-/;

type Deps = Pick<RouteDeps, "byKey" | "mint" | "send">;
type Vm = { readonly state: string; readonly identity: string | null; readonly reason: string | null };

export type TakenStatus = { readonly id: string; readonly made_at: string | null; readonly payload: unknown };

/**
 * Sends one message for each instance whose VM is missing, is back after it was missing, or has another state than the
 * instance's record. For a missing VM, sends no more than MISSED_REPORTS_MAX messages in succession. A report that is
 * repeated, or older than the last report, changes nothing.
 */
export async function reconcile(c: Ctx, deps: Deps, { id, made_at, payload }: TakenStatus): Promise<void> {
  const vms = member(payload, "vms");
  if (typeof vms !== "object" || vms === null) return;
  const by = nodeOf(c);
  const said = { by, made_at, status_id: id };
  const present = await listReportable(deps.byKey, by, id);
  await Promise.all(present.map(async (record) => {
    const vm = vmOf(Object.hasOwn(vms, record.id) ? member(vms, record.id) : undefined);
    const to = { kind: "instance", id: record.id } as const;
    if (vm === null) {
      if (record.missed_reports < MISSED_REPORTS_MAX) await deps.send(c, to, { type: "missed", ...said });
      return;
    }
    if (isForeign(deps, record, vm) || (vm.state === record.state && record.missed_reports === 0)) return;
    await deps.send(c, to, { type: "reported", vm_state: vm.state, vm_reason: vm.reason, ...said });
  }));
}

/**
 * Returns whether a VM has the identity of another instance. The identity is an HMAC of the instance's ids. A VM
 * without an identity is not foreign.
 */
function isForeign(
  { mint }: Pick<Deps, "mint">,
  { id: instance_id, tenant_id, project_id }: Reportable,
  vm: Vm,
): boolean {
  return vm.identity !== null && vm.identity !== mint.identityHmac({ instance_id, tenant_id, project_id });
}

function vmOf(value: unknown): Vm | null {
  const state = member(value, "state");
  if (typeof state !== "string") return null;
  const identity = member(member(value, "internal_metadata"), "cp:identity_hmac");
  const reason = member(value, "reason");
  return {
    state,
    identity: typeof identity === "string" ? identity : null,
    reason: typeof reason === "string" ? oneLine(reason) : null,
  };
}

/** Returns the node's text for the tenant, shortened and without control characters; null if nothing remains. */
function oneLine(text: string): string | null {
  const line = text.replace(/\p{Cc}+/gu, " ").trim().slice(0, JOB_REASON_CHARS_MAX);
  return line === "" ? null : line;
}

/** Returns when the node made the report, by the node's clock; null if the report has no valid time. */
export function madeAt(payload: unknown): string | null {
  const text = member(payload, "timestamp");
  const date = typeof text === "string" ? new Date(text) : null;
  if (date === null || Number.isNaN(date.getTime())) return null;
  const told = date.toISOString();
  return PLAIN_YEAR.test(told) ? told : null;
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
