// Defines the setting placement.profiles: named sets of weights for the scorers, and the name of the active set.
import { z } from "zod";
import { PLACEMENT_SCORERS, type PlacementScorer } from "./enums.ts";

/** Weights by scorer name. Unknown scorers are ignored. A missing scorer has its default weight. */
const weights = z.record(z.string(), z.number().min(0).max(10));
const profile = z.strictObject({ name: z.string(), description: z.string(), builtin: z.boolean(), weights });

/** The value of the setting placement.profiles. */
export const PlacementProfiles = z.strictObject({ active: z.string(), profiles: z.array(profile).min(1) })
  .refine(({ active, profiles }) => profiles.some(({ name }) => name === active), "active must name a profile");
export type PlacementProfiles = z.infer<typeof PlacementProfiles>;

/** Returns the weights by scorer name, from a list in the order of PLACEMENT_SCORERS. */
function weightsOf(values: readonly number[]): Record<PlacementScorer, number> {
  return Object.fromEntries(PLACEMENT_SCORERS.map((name, index) => [name, values[index]])) as Record<
    PlacementScorer,
    number
  >;
}

/** The weight of a scorer that a profile does not name. */
export const SCORER_WEIGHTS_DEFAULT = weightsOf([2, 1, 1.5, 0, 1, 0.5, 0.5, 0.1, 1.5, 0.75, 0]);

function builtin(name: string, description: string, values: Record<PlacementScorer, number>) {
  return { name, description, builtin: true, weights: values };
}

/** The initial profiles of a site. */
export const PLACEMENT_PROFILES_DEFAULT: PlacementProfiles = {
  active: "spread",
  profiles: [
    builtin("spread", "Even load over nodes and fault domains", SCORER_WEIGHTS_DEFAULT),
    builtin("consolidate", "Few busy nodes", weightsOf([1, 0.5, 0, 1.5, 1, 0.5, 0, 0.1, 0.5, 0.25, 0])),
    builtin("balanced", "Between spread and consolidate", weightsOf([2, 1, 0.75, 0.75, 1, 0.5, 0.5, 0.1, 1, 0.5, 0])),
    builtin("performance", "Away from hot nodes", weightsOf([2.5, 1.5, 1, 0, 1, 0.5, 1, 0, 2.5, 1.5, 0.5])),
    builtin("isolation", "Away from neighbours", weightsOf([1.5, 1, 2, 0, 1, 0.5, 2.5, 0.1, 1.5, 0.75, 0])),
    builtin("power-save", "Nodes that can be switched off", weightsOf([0.75, 0.5, 0, 2.5, 1, 0.5, 0, 0, 0.25, 0, 1.5])),
  ],
};
