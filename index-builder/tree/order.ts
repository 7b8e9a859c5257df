// Compares releases and archived builds for the order "newest first".
import { compareNatural } from "../natural-order.ts";
import type { Build, Release } from "./model.ts";

type Dated = Pick<Release, "id" | "version" | "aliases">;

/**
 * Compares releases by version. Returns a negative number if `a` is newer. A vendor may number its development channel
 * in another way than its releases (OmniOS: by date, not r151058). The development channel is then newer.
 */
export function compareReleases(a: Dated, b: Dated): number {
  const [left, right] = [a.version ?? a.id, b.version ?? b.id];
  if (schemeOf(left) === schemeOf(right)) return compareNatural(right, left);
  return Number(isDevelopment(b)) - Number(isDevelopment(a)) || compareNatural(right, left);
}

/** Compares builds by point release, then by build id. Returns a negative number if `a` is newer. */
export function compareArchived(a: Build, b: Build): number {
  return compareNatural(b.point_release ?? "", a.point_release ?? "") || compareNatural(b.build, a.build);
}

/** Returns the characters before the first digit, which identify the numbering. */
function schemeOf(version: string): string {
  return /^[^0-9]*/.exec(version)![0];
}

function isDevelopment({ aliases }: Dated): boolean {
  return aliases.includes("dev") && !aliases.includes("latest");
}
