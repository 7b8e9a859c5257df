// Keeps images of the previous tree in the releases of a vendor whose documents cannot all be read.
import { newestFirst } from "../natural-order.ts";
import type { Artifact, Build } from "../tree/model.ts";
import { artifactKey } from "../tree/check-build.ts";
import type { ResolvedRelease } from "./release.ts";

/**
 * Adds the images of the previous tree that have no successor in the release.
 * @param before current builds of this release in the previous tree
 */
export function withImagesBefore(resolved: ResolvedRelease, before: readonly Build[]): ResolvedRelease {
  const { current, archived } = resolved;
  const builds = [...current];
  for (const old of before) {
    if (archived.some(({ build }) => build === old.build)) continue;
    const missing = old.artifacts.filter((artifact) => !hasSuccessor(current, old, artifact));
    if (missing.length === 0) continue;
    const index = builds.findIndex(({ build }) => build === old.build);
    if (index < 0) builds.push({ ...old, artifacts: missing });
    else builds[index] = { ...builds[index]!, artifacts: inOrderOf(old, [...builds[index]!.artifacts, ...missing]) };
  }
  return { ...resolved, current: newestFirst(builds, ({ build }) => build) };
}

/**
 * Returns whether a current build has an image of the same variant, architecture and format. If the old build's point
 * release is still current, only builds of that point release count.
 */
function hasSuccessor(current: readonly Build[], old: Build, artifact: Artifact): boolean {
  const same_point = current.filter(({ point_release }) => point_release === old.point_release);
  const builds = same_point.length > 0 ? same_point : current;
  return builds.some(({ artifacts }) => artifacts.some((other) => artifactKey(other) === artifactKey(artifact)));
}

/** Sorts artifacts in the order of the old build, so that an unchanged build is written unchanged. */
function inOrderOf(old: Build, artifacts: readonly Artifact[]): Artifact[] {
  const keys = old.artifacts.map(artifactKey);
  const positionOf = (artifact: Artifact) => {
    const position = keys.indexOf(artifactKey(artifact));
    return position < 0 ? keys.length : position;
  };
  return artifacts.toSorted((a, b) => positionOf(a) - positionOf(b));
}
