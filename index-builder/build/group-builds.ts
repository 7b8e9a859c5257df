// Groups the images of a release into builds, for vendors that publish variants and architectures at different times.
import { compareNatural, newestFirst } from "../natural-order.ts";
import type { Visit } from "../vendor.ts";

export type Found = { readonly build: string; readonly variant: string; readonly arch: string };

/**
 * Selects images and groups them by build, newest first. For every variant and architecture, takes the newest image
 * that is not newer than `lead`, which is the build of the default image. An older image stays in its own older build,
 * because the bytes of a build never change. A newer image is left out until the default image reaches the same build,
 * so that the newest build always has the default image.
 */
export function groupByBuild<T extends Found>(visit: Visit, found: readonly T[], lead: string): T[][] {
  const ready = found.filter(({ build }) => compareNatural(build, lead) <= 0);
  const waiting = found.filter((image) => !ready.some((other) => isSameKind(other, image)));
  for (const { variant, arch, build } of newestOfEachKind(waiting)) {
    visit.warn(`${variant} ${arch} ${build}: left out until the default image (now ${lead}) has the same build`);
  }
  const current = newestOfEachKind(ready);
  const builds = newestFirst(new Set(current.map(({ build }) => build)), (build) => build);
  return builds.map((build) => current.filter((image) => image.build === build));
}

function newestOfEachKind<T extends Found>(found: readonly T[]): T[] {
  return found.filter((image) => !found.some((other) => isSameKind(other, image) && isNewer(other, image)));
}

function isSameKind(a: Found, b: Found): boolean {
  return a.variant === b.variant && a.arch === b.arch;
}

function isNewer(a: Found, b: Found): boolean {
  return compareNatural(a.build, b.build) > 0;
}
