// While a part of a vendor's documents cannot be read, no image that the tree before lists is taken away.
import { newestFirst } from "../natural-order.ts";
import type { Artifact, Build } from "../tree/model.ts";
import { artifactKey } from "./build.ts";
import type { ResolvedRelease } from "./release.ts";

/** @param before the current builds of this release in the tree before */
export function withImagesBefore(resolved: ResolvedRelease, before: readonly Build[]): ResolvedRelease {
  const { current, archived } = resolved;
  const builds = [...current];
  for (const old of before) {
    if (archived.some(({ build }) => build === old.build)) continue;
    const missing = old.artifacts.filter((artifact) => !hasIts(current, old, artifact));
    if (missing.length === 0) continue;
    const index = builds.findIndex(({ build }) => build === old.build);
    if (index < 0) builds.push({ ...old, artifacts: missing });
    else builds[index] = { ...builds[index]!, artifacts: inOrderOf(old, [...builds[index]!.artifacts, ...missing]) };
  }
  return { ...resolved, current: newestFirst(builds, ({ build }) => build) };
}

/** Whether there is such an image now, of its own point release where that is still current. */
function hasIts(current: readonly Build[], old: Build, artifact: Artifact): boolean {
  const same_point = current.filter(({ point_release }) => point_release === old.point_release);
  const builds = same_point.length > 0 ? same_point : current;
  return builds.some(({ artifacts }) => artifacts.some((other) => artifactKey(other) === artifactKey(artifact)));
}

/** So that a build whose images are those of the day before is written as it was. */
function inOrderOf(old: Build, artifacts: readonly Artifact[]): Artifact[] {
  const keys = old.artifacts.map(artifactKey);
  const placeOf = (artifact: Artifact) => {
    const place = keys.indexOf(artifactKey(artifact));
    return place < 0 ? keys.length : place;
  };
  return artifacts.toSorted((a, b) => placeOf(a) - placeOf(b));
}
