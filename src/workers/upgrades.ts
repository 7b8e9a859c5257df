// Continues the upgrades by label, and the upgrade of each of their nodes. Every process does this. All progress is in
// the database, so the upgrades continue after a crash. Each operation begins only once, because its id is fixed before
// it begins.
import type { Outcome } from "../../actors/engine/types.ts";
import type { Ports } from "../../actors/engine/ports.ts";
import type { LabelUpgradeResult } from "../contract/label-upgrade.ts";
import {
  type Booted,
  type Draining,
  nextOfLabelUpgrade,
  nextOfNodeUpgrade,
  type NodeUpgradeNext,
  type Returning,
  type UpgradedNode,
} from "../lib/placement/upgrade-progress.ts";
import { createLoop } from "./loop.ts";

/** A running upgrade by label, as the database has it now. */
export type LabelUpgrade = {
  readonly operation_id: string;
  readonly max_unavailable: number;
  readonly nodes: readonly UpgradedNode[];
};

/** A running upgrade of one node that waits for the worker, as the database has it now. */
export type NodeUpgrade = {
  readonly operation_id: string;
  readonly server_uuid: string;
  readonly at: Omit<Draining, "refusal"> | Returning;
  readonly booted: Booted;
};

export type UpgradeEnd = Extract<NodeUpgradeNext, { next: "completed" | "failed" }>;

export type UpgradesOptions = {
  readonly labels: () => Promise<readonly LabelUpgrade[]>;
  readonly nodes: () => Promise<readonly NodeUpgrade[]>;
  /** Begins the upgrade of a node. */
  readonly begin: (upgrade: LabelUpgrade, node: UpgradedNode) => Promise<Outcome>;
  /** Begins the drain of an upgrade's node. */
  readonly drain: (upgrade: NodeUpgrade) => Promise<Outcome>;
  /** Ends the step at which the upgrade of a node waits. */
  readonly endStep: (upgrade: NodeUpgrade, end: UpgradeEnd) => Promise<unknown>;
  readonly end: (operation_id: string, result: LabelUpgradeResult) => Promise<unknown>;
  readonly ports: Pick<Ports, "report">;
};

/** The pause between two passes. */
const EVERY_MS = 1_000;

export function createUpgrades({ labels, nodes, begin, drain, endStep, end, ports }: UpgradesOptions) {
  /**
   * The refusals that this process has seen, by operation and node. After a crash, the refused message is sent once
   * more.
   */
  let refused = new Map<string, Map<string, string>>();

  async function pass(): Promise<void> {
    try {
      const [of_labels, of_nodes] = [await labels(), await nodes()];
      const ids = [...of_labels, ...of_nodes].map(({ operation_id }) => operation_id);
      refused = new Map(ids.map((id) => [id, refused.get(id) ?? new Map<string, string>()]));
      for (const upgrade of of_labels) await advanceLabel(upgrade, refused.get(upgrade.operation_id)!);
      for (const upgrade of of_nodes) await advanceNode(upgrade, refused.get(upgrade.operation_id)!);
    } catch (error) {
      ports.report("background work failed: upgrades of nodes", error);
    }
  }

  async function advanceLabel(upgrade: LabelUpgrade, refusals: Map<string, string>): Promise<void> {
    const decided = nextOfLabelUpgrade(upgrade.nodes, upgrade.max_unavailable, refusals);
    if (decided.next === "end") return void await end(upgrade.operation_id, decided.result);
    for (const node of decided.nodes) {
      if (!noted(await begin(upgrade, node), node.server_uuid, refusals)) return;
    }
  }

  async function advanceNode(upgrade: NodeUpgrade, refusals: Map<string, string>): Promise<void> {
    const { at, booted, server_uuid } = upgrade;
    const decided = nextOfNodeUpgrade(
      at.step === "drain" ? { ...at, refusal: refusals.get(server_uuid) ?? null } : at,
      booted,
    );
    switch (decided.next) {
      case "wait":
        return;
      case "drain":
        return void noted(await drain(upgrade), server_uuid, refusals);
      case "completed":
      case "failed":
        return void await endStep(upgrade, decided);
    }
  }

  return createLoop(pass, EVERY_MS);
}

/**
 * Returns whether a message was accepted. Records the reason of a refusal. Ignores an overload, because the server
 * accepts the message later. If another process has sent the message before, the next pass sees its effect and ignores
 * the refusal.
 */
function noted(outcome: Outcome, server_uuid: string, refusals: Map<string, string>): boolean {
  if (!outcome.ok && outcome.fault.kind !== "unavailable") refusals.set(server_uuid, outcome.fault.message);
  return outcome.ok;
}
