// Keeps every image of the previous tree while some of a vendor's documents cannot be read.
import { newestFirst } from "../natural-order.ts";
import type { Artifact, Build } from "../tree/model.ts";
import { artifactKey } from "../tree/check-build.ts";
import type { ResolvedRelease } from "./release.ts";

/** @param before current builds of this release in the previous tree */
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
 * Whether a current build has the same variant, architecture and format; of the same point release if that is current.
 */
function hasSuccessor(current: readonly Build[], old: Build, artifact: Artifact): boolean {
  const same_point = current.filter(({ point_release }) => point_release === old.point_release);
  const builds = same_point.length > 0 ? same_point : current;
  return builds.some(({ artifacts }) => artifacts.some((other) => artifactKey(other) === artifactKey(artifact)));
}

/** Sorts artifacts as the old build has them, so that an unchanged build is written unchanged. */
function inOrderOf(old: Build, artifacts: readonly Artifact[]): Artifact[] {
  const keys = old.artifacts.map(artifactKey);
  const positionOf = (artifact: Artifact) => {
    const position = keys.indexOf(artifactKey(artifact));
    return position < 0 ? keys.length : position;
  };
  return artifacts.toSorted((a, b) => positionOf(a) - positionOf(b));
}
