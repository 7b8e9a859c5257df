// Finds the osinfo entry of a release or point release.
import type { OsinfoRef } from "../tree/model.ts";
import { OSINFO_ARCH, OSINFO_FAMILIES, type OsinfoFamily } from "./entries.ts";

export type OsinfoEntry = OsinfoRef & {
  /** "database": the entry is in the database of 2022. "rule": the database's naming rule gave the entry its id. */
  readonly source: "database" | "rule";
};

/**
 * Returns the entry of a release. Returns null if the version does not have the form of the distribution's keys. Also
 * returns null without a version, except for Arch Linux.
 */
export function releaseEntry(distro: string, version: string | null): OsinfoEntry | null {
  if (distro === "arch") return { ...OSINFO_ARCH, source: "database" };
  const family = OSINFO_FAMILIES[distro];
  if (family === undefined || version === null) return null;
  return entry(family, family.releaseKey(version));
}

/**
 * Returns the entry of a point release. Returns null if the database has no entries for point releases of this distro.
 * For some distros, also returns null if only the naming rule gives the id.
 */
export function pointEntry(distro: string, point_release: string | null): OsinfoEntry | null {
  const family = OSINFO_FAMILIES[distro];
  if (family === undefined || point_release === null) return null;
  const found = entry(family, family.pointKey(point_release));
  return found === null || (found.source === "rule" && !family.points_by_rule) ? null : found;
}

/** Returns the part of an entry that the index publishes. */
export function osinfoRef(found: OsinfoEntry | null): OsinfoRef | null {
  return found === null ? null : { id: found.id, short_id: found.short_id };
}

function entry(family: OsinfoFamily, key: string | null): OsinfoEntry | null {
  if (key === null) return null;
  const source = family.in_database.includes(key) ? "database" : "rule";
  return { id: `${family.id_prefix}${key}`, short_id: `${family.short_prefix}${key}`, source };
}
