// Checks whether a node fits the placement group of an instance, given the nodes of the group's other instances
// (docs/instances.md, "Placement groups"). The commit checks required groups again (guard_placement_group_allows).
import type { PlacementGroupLevel, PlacementGroupPolicy, PlacementGroupStrictness } from "../../contract/enums.ts";
import type { NodeSnapshot } from "./snapshot.ts";
import { ACCEPT, type Filter, reject, SKIP } from "./verdict.ts";

/** The rules of a placement group. */
export type GroupRules = {
  readonly id: string;
  readonly name: string;
  readonly policy: PlacementGroupPolicy;
  readonly level: PlacementGroupLevel;
  readonly strictness: PlacementGroupStrictness;
};

/** An instance of a group and the node that it is on. An instance that is moving has two entries. */
export type GroupMember = {
  readonly instance_id: string;
  readonly server_uuid: string;
  readonly fault_domain: string | null;
};

/** A placement group with the nodes of its instances. */
export type Group = GroupRules & { readonly members: readonly GroupMember[] };

/** The rules for one instance, and the number of the other instances of its group by node or fault domain. */
export type WantedGroup = GroupRules & { readonly others: ReadonlyMap<string, number> };

/** The instance that is placed. */
export type GroupMove = {
  readonly instance_id: string | null;
  /** The node that is being drained. With affinity, its instances are not counted, because they will also move. */
  readonly leaves?: string;
};

/** The fault domain of an instance whose node has none. No node has this fault domain. */
const NOWHERE = "";

/**
 * Returns the rules of the group for one instance, with the number of the group's other instances by node or fault
 * domain.
 */
export function wantedGroup(group: Group | null, { instance_id, leaves }: GroupMove): WantedGroup | null {
  if (group === null) return null;
  const { members, ...rules } = group;
  const others = new Map<string, number>();
  for (const member of members) {
    const place = rules.level === "node" ? member.server_uuid : member.fault_domain;
    const follows = rules.policy === "affinity" && member.server_uuid === leaves;
    // With affinity, an instance whose node has no fault domain counts at NOWHERE, which no node matches.
    // guard_placement_group_allows does the same.
    const isIgnored = place === null && rules.policy !== "affinity";
    if (isIgnored || follows || member.instance_id === instance_id) continue;
    others.set(place ?? NOWHERE, (others.get(place ?? NOWHERE) ?? 0) + 1);
  }
  return { ...rules, others };
}

function placeOf({ server_uuid, placement }: NodeSnapshot, { level }: GroupRules): string | null {
  return level === "node" ? server_uuid : placement.fault_domain;
}

/** cn-affinity-required: the node keeps the instances of a required placement group apart or together. */
export const affinityRequired: Filter = (node, { group }) => {
  if (!group || group.strictness !== "required") return SKIP;
  const place = placeOf(node, group);
  if (place === null) return reject(`it has no fault domain, which placement group ${group.name} needs`);
  const level = group.level.replace("_", " ");
  const preposition = group.level === "fault_domain" ? "in" : "on";
  const beside = group.others.get(place) ?? 0;
  if (group.policy === "anti_affinity" && beside > 0) {
    return reject(`another instance of placement group ${group.name} is ${preposition} the same ${level}`);
  }
  if (group.policy === "affinity" && group.others.size > 0 && beside === 0) {
    return reject(`the instances of placement group ${group.name} are ${preposition} another ${level}`);
  }
  return ACCEPT;
};

/** The points of every node if there is no preference. */
const NEUTRAL = 0.5;

/**
 * Scores a node for a preferred group. The score depends on the number of the group's instances on the node or in its
 * fault domain. With anti-affinity, fewer instances give more points; with affinity, more instances give more points.
 */
export function groupScore(node: NodeSnapshot, group: WantedGroup | null | undefined): number {
  if (!group || group.strictness !== "preferred") return NEUTRAL;
  const place = placeOf(node, group);
  const beside = place === null ? 0 : group.others.get(place) ?? 0;
  if (group.policy === "anti_affinity") return 1 / (1 + beside);
  const total = [...group.others.values()].reduce((sum, count) => sum + count, 0);
  return total === 0 ? NEUTRAL : beside / total;
}
