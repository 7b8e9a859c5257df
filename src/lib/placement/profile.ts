// How much each scorer counts.
import { PLACEMENT_SCORERS, type PlacementScorer } from "../../contract/enums.ts";
import { type PlacementProfiles, SCORER_WEIGHTS_DEFAULT } from "../../contract/placement-profiles.ts";

/** A set of weights by name, one for every scorer. */
export type Profile = { readonly name: string; readonly weights: Readonly<Record<PlacementScorer, number>> };

/** Document 4, 4.4: an unknown active name is the first profile, a scorer without a weight has its default. */
export function activeProfile({ active, profiles }: PlacementProfiles): Profile {
  const found = profiles.find(({ name }) => name === active) ?? profiles[0];
  const given = found?.weights ?? {};
  const weights = { ...SCORER_WEIGHTS_DEFAULT };
  for (const scorer of PLACEMENT_SCORERS) weights[scorer] = given[scorer] ?? weights[scorer];
  return { name: found?.name ?? active, weights };
}
