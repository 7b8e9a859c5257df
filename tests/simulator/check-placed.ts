// INV-16: no node is removed while an instance is placed on it. The journal records every placement and its end.
import { actorKey, type Evidence } from "./evidence.ts";
import type { Violation } from "./violation.ts";

export function checkPlaced(evidence: Evidence): readonly Violation[] {
  return evidence.journal.transitions.filter((step) => step.actor_kind === "cn" && step.event === "remove").flatMap(
    (step): Violation[] => {
      const before = evidence.journal.placements.filter(({ at, node }) =>
        node === step.actor_id && at.stamp < step.applied.stamp
      );
      if (before.at(-1)?.placed !== true) return [];
      return [{ invariant: "16 nothing dangles", about: actorKey(step), text: "removed with something placed on it" }];
    },
  );
}
