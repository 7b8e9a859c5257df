// Decides from the stored state what an upgrade by label does next, and what the upgrade of one of its nodes does next.
import type { DrainResult } from "../../contract/drain.ts";
import type { OperationState } from "../../contract/enums.ts";
import type { LabelUpgradeResult, NotUpgraded } from "../../contract/label-upgrade.ts";
import { drainError } from "./drain-progress.ts";

/** A node of an upgrade by label, as the database has it now. */
export type UpgradedNode = {
  readonly server_uuid: string;
  readonly hostname: string;
  /** The id of the operation that upgrades the node. The operation may not exist yet. */
  readonly operation_id: string;
  /** The operation that upgrades the node; null before it begins. */
  readonly upgrade: {
    readonly state: OperationState;
    readonly error: string | null;
    /** The step that failed, or null. */
    readonly failed_step: string | null;
    readonly moved: number;
  } | null;
};

/** The next action of an upgrade by label. */
export type LabelUpgradeNext =
  | { readonly next: "begin"; readonly nodes: readonly UpgradedNode[] }
  | { readonly next: "end"; readonly result: LabelUpgradeResult };

/**
 * Returns the nodes whose upgrades can begin. Returns the result if no upgrade runs and none can begin. After an
 * upgrade has failed or was refused, no other upgrade begins. No more than `max_unavailable` upgrades run at the same
 * time, even if a process acts on an older state. The reason is the same as for drains by label
 * (label-drain-progress.ts).
 * @param refusals - The reasons of refused upgrades, by node.
 */
export function nextOfLabelUpgrade(
  nodes: readonly UpgradedNode[],
  max_unavailable: number,
  refusals: ReadonlyMap<string, string>,
): LabelUpgradeNext {
  const running = nodes.filter(({ upgrade }) => upgrade !== null && isRunning(upgrade.state));
  const not_upgraded = nodes.flatMap((node) => notUpgraded(node, refusals) ?? []);
  const stopped = new Set(not_upgraded.map(({ server_uuid }) => server_uuid));
  const waiting = nodes.filter(({ upgrade, server_uuid }) => upgrade === null && !stopped.has(server_uuid));
  const begins = stopped.size > 0 ? [] : waiting.slice(0, Math.max(0, max_unavailable - running.length));
  if (begins.length > 0 || running.length > 0) return { next: "begin", nodes: begins };
  const upgraded = nodes.flatMap(({ upgrade, server_uuid, hostname, operation_id }) =>
    upgrade === null || stopped.has(server_uuid) ? [] : [{ server_uuid, hostname, operation_id, moved: upgrade.moved }]
  );
  const not_begun = waiting.map(({ server_uuid, hostname }) => ({ server_uuid, hostname }));
  return { next: "end", result: { upgraded, not_upgraded, not_begun } };
}

function isRunning(state: OperationState): boolean {
  return state === "pending" || state === "running" || state === "unwinding";
}

const REPEAT = "then upgrade the label again";

/** The remedies by the step that failed. The other steps fail with a reason that contains the remedy. */
const REMEDIES: Readonly<Record<string, string>> = {
  drain: `move or stop what remains on the node, ${REPEAT}`,
  reboot: `restart the machine by its BMC (booter redfish power-cycle), ${REPEAT}`,
  return: "look at the console of the machine, restart it by its BMC (booter redfish power-cycle), and see what it " +
    `booted (opsctl cn doctor), ${REPEAT}`,
};

/** Returns why the node could not be upgraded, or null. */
function notUpgraded(node: UpgradedNode, refusals: ReadonlyMap<string, string>): NotUpgraded | null {
  const { server_uuid, hostname, operation_id, upgrade } = node;
  const because = (reason: string, step: string | null, remedy: string): NotUpgraded => ({
    server_uuid,
    hostname,
    operation_id,
    step,
    reason,
    remedy,
  });
  if (upgrade === null) {
    const refusal = refusals.get(server_uuid);
    return refusal === undefined ? null : because(refusal, null, `remove the cause, ${REPEAT}`);
  }
  if (isRunning(upgrade.state) || upgrade.state === "succeeded") return null;
  const { error, failed_step, state } = upgrade;
  return because(error ?? state, failed_step, REMEDIES[failed_step ?? ""] ?? `remove the cause, ${REPEAT}`);
}

/** The upgrade of one node while it waits for the node's drain. `drain` is null before the drain begins. */
export type Draining = {
  readonly step: "drain";
  readonly drain_id: string;
  readonly drain:
    | { readonly state: OperationState; readonly result: DrainResult | null; readonly error: string | null }
    | null;
  /** Why the drain was refused, or null. */
  readonly refusal: string | null;
};

/** The upgrade of one node while it waits for the node's return. */
export type Returning = {
  readonly step: "return";
  /** The node's boot before the restart. */
  readonly from_boot_id: string;
  readonly wanted_image: string;
  /** When the node last sent a heartbeat, or null. */
  readonly last_seen: string | null;
  /** Whether the time limit has passed. */
  readonly is_late: boolean;
};

/** The values about a node's boot in its last status report. Null: the report does not have the value. */
export type Booted = { readonly boot_id: string | null; readonly platform_image: string | null };

/** The next action of the upgrade of one node. */
export type NodeUpgradeNext =
  | { readonly next: "wait" }
  | { readonly next: "drain" }
  | { readonly next: "completed"; readonly result: Readonly<Record<string, unknown>> }
  | { readonly next: "failed"; readonly reason: string };

/** Returns the next action of the upgrade of one node: to wait, to begin the drain, or to end the current step. */
export function nextOfNodeUpgrade(upgrade: Draining | Returning, booted: Booted): NodeUpgradeNext {
  return upgrade.step === "drain" ? afterDrain(upgrade, booted) : afterReturn(upgrade, booted);
}

function afterDrain({ drain, drain_id, refusal }: Draining, { boot_id }: Booted): NodeUpgradeNext {
  if (drain === null) return refusal === null ? { next: "drain" } : { next: "failed", reason: refusal };
  if (isRunning(drain.state)) return { next: "wait" };
  const error = drain.result === null ? null : drainError(drain.result);
  if (error !== null) {
    const remedy = drain.result?.remaining[0]?.remedy;
    return failed(`${error} (${remedy}); operation ${drain_id} lists the instances`);
  }
  if (drain.state !== "succeeded") {
    return failed(`operation ${drain_id} drained the node and did not succeed: ${drain.error ?? drain.state}`);
  }
  if (boot_id === null) return failed("the node's agent does not report its boot; upgrade the node agent");
  return { next: "completed", result: { operation_id: drain_id, moved: drain.result?.moved ?? 0, boot_id } };
}

function afterReturn(
  { from_boot_id, wanted_image, last_seen, is_late }: Returning,
  { boot_id, platform_image }: Booted,
): NodeUpgradeNext {
  if (boot_id !== null && boot_id !== from_boot_id) {
    if (platform_image === wanted_image) return { next: "completed", result: { boot_id } };
    return failed(`the node restarted with platform image ${platform_image ?? "(not reported)"}, not ${wanted_image}`);
  }
  if (!is_late) return { next: "wait" };
  return failed(`the node did not report a restart in time; its last heartbeat was at ${last_seen ?? "(never)"}`);
}

function failed(reason: string): NodeUpgradeNext {
  return { next: "failed", reason };
}
