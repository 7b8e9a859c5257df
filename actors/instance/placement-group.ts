// The check that a new node fits an instance's placement group, for a create and for a move (docs/instances.md,
// "Placement groups").
import type { Fault } from "../../src/contract/fault.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { guard, lock } from "../engine/effects.ts";
import type { Condition } from "../engine/types.ts";
import type { InstanceState } from "./state.ts";

export type NewHost = {
  readonly server_uuid: string;
  /**
   * The node that is being emptied. An affinity group ignores its instances on this node, because they will move too.
   */
  readonly leaves?: string | undefined;
};

/**
 * Returns the conditions that refuse a node that breaks the rule of the instance's group, if the rule is required.
 * Under the lock, the instances of a group get their nodes one after another, so each check sees the nodes of all
 * others.
 */
export function fitGroup(
  { id: instance_id, placement_group_id }: Pick<InstanceState, "id" | "placement_group_id">,
  { server_uuid, leaves }: NewHost,
  refusal: Fault,
): Condition[] {
  if (placement_group_id === null) return [];
  return [
    lock(lockKey("placement-group", placement_group_id)),
    guard(
      "placement_group_allows",
      { placement_group_id, instance_id, server_uuid, leaves: leaves ?? null },
      refusal,
    ),
  ];
}
