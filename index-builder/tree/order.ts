// What "newest first" means (document 1, Distro and BuildList).
import { compareNatural } from "../natural-order.ts";
import type { Build, Release } from "./model.ts";

type Dated = Pick<Release, "id" | "version" | "aliases">;

/**
 * Negative where `a` is newer. By version; where one vendor counts its development channel in another way than its
 * releases (OmniOS: days beside r151058), that channel is ahead of them.
 */
export function compareReleases(a: Dated, b: Dated): number {
  const [left, right] = [a.version ?? a.id, b.version ?? b.id];
  if (schemeOf(left) === schemeOf(right)) return compareNatural(right, left);
  return Number(isDevelopment(b)) - Number(isDevelopment(a)) || compareNatural(right, left);
}

/** Negative where `a` is newer: by point release, then by name. */
export function compareArchived(a: Build, b: Build): number {
  return compareNatural(b.point_release ?? "", a.point_release ?? "") || compareNatural(b.build, a.build);
}

/** Letters before the first digit. */
function schemeOf(version: string): string {
  return /^[^0-9]*/.exec(version)![0];
}

function isDevelopment({ aliases }: Dated): boolean {
  return aliases.includes("dev") && !aliases.includes("latest");
}
