// Decides from the stored state what a drain does next. A failed migration is not repeated. While another operation
// occupies an instance, the drain waits.
import type { DrainResult, RemainingInstance } from "../../contract/drain.ts";
import { DRAIN_TRIES_MAX } from "../../contract/limits.ts";
import type { NotPlaceableInstance } from "../../contract/placement.ts";

/** An instance that the drain should move, as the database has it now. */
export type Move = {
  readonly instance_id: string;
  readonly instance_name: string;
  /** The node on which the preview placed the instance; null if the instance arrived after the preview. */
  readonly target_cn_uuid: string | null;
  /** Whether the instance is on the drained node or migrates to it, or its migration in this drain has not ended. */
  readonly is_here: boolean;
  /** Whether the instance was deleted before its move ended. */
  readonly was_deleted: boolean;
  readonly is_occupied: boolean;
  /** Why the migration of the instance in this drain failed; null if no migration failed. */
  readonly failure: string | null;
};

/** A running drain or evacuation, as the database has it now. */
export type Drain = {
  readonly operation_id: string;
  /** Whether the node is dead, so that its instances are created again on other nodes. */
  readonly is_evacuation: boolean;
  readonly server_uuid: string;
  readonly moves: readonly Move[];
  /** The instances on the node that the preview could not place. */
  readonly not_placeable: readonly NotPlaceableInstance[];
  /** Migrations from the node that have not ended. */
  readonly active: number;
};

/** How often the migration of an instance was refused, and the last reason. */
export type Refusal = { readonly tries: number; readonly reason: string };

/** The next action of a drain: some instances begin to move, or the drain ends. */
export type DrainNext =
  | { readonly next: "move"; readonly moves: readonly Move[] }
  | { readonly next: "end"; readonly result: DrainResult };

/**
 * Returns the instances that can begin to move, in the order of the preview. Returns the result when no instance is
 * left that can still move.
 */
export function nextOfDrain(
  moves: readonly Move[],
  not_placeable: readonly NotPlaceableInstance[],
  refusals: ReadonlyMap<string, Refusal>,
): DrainNext {
  const here = moves.filter(({ is_here }) => is_here);
  const givenUp = (move: Move) => reasonOf(move, refusals) !== null && !move.is_occupied;
  const left = here.filter((move) => !givenUp(move));
  if (left.length > 0) return { next: "move", moves: left.filter(({ is_occupied }) => !is_occupied) };
  const remaining: RemainingInstance[] = [
    ...here.map((move) => ({
      instance_id: move.instance_id,
      instance_name: move.instance_name,
      reason: reasonOf(move, refusals) ?? "",
      remedy: "remove the cause, then drain the node again",
    })),
    ...not_placeable.map(({ instance_id, instance_name, reason, remedy }) => ({
      instance_id,
      instance_name,
      reason,
      remedy,
    })),
  ];
  return {
    next: "end",
    result: { moved: moves.filter((move) => !move.is_here && !move.was_deleted).length, remaining },
  };
}

/** Returns the error of the operation if instances are still on the node; null if the node is empty. */
export function drainError({ remaining }: DrainResult): string | null {
  const [first] = remaining;
  if (first === undefined) return null;
  const example = remaining.length === 1 ? "" : "for example ";
  return `${stillOnNode(remaining.length)}, ${example}${first.instance_name}: ${first.reason}`;
}

/** Returns "1 instance is still on the node", or the same about several instances. */
export function stillOnNode(instances: number): string {
  return `${instances === 1 ? "1 instance is" : `${instances} instances are`} still on the node`;
}

function reasonOf({ instance_id, failure }: Move, refusals: ReadonlyMap<string, Refusal>): string | null {
  if (failure !== null) return failure;
  const refusal = refusals.get(instance_id);
  return refusal !== undefined && refusal.tries >= DRAIN_TRIES_MAX ? refusal.reason : null;
}
