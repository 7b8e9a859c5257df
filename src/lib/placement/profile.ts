// Determines the weights of the scorers.
import { PLACEMENT_SCORERS, type PlacementScorer } from "../../contract/enums.ts";
import { type PlacementProfiles, SCORER_WEIGHTS_DEFAULT } from "../../contract/placement-profiles.ts";

/** A named set of weights, one for every scorer. */
export type Profile = { readonly name: string; readonly weights: Readonly<Record<PlacementScorer, number>> };

/**
 * Returns the active profile. If no profile has the active name, returns the first profile. A scorer without a weight
 * gets its default.
 */
export function activeProfile({ active, profiles }: PlacementProfiles): Profile {
  const found = profiles.find(({ name }) => name === active) ?? profiles[0];
  const given = found?.weights ?? {};
  const weights = { ...SCORER_WEIGHTS_DEFAULT };
  for (const scorer of PLACEMENT_SCORERS) weights[scorer] = given[scorer] ?? weights[scorer];
  return { name: found?.name ?? active, weights };
}
