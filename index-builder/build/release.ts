// One candidate, resolved: its release, current builds and archive, or the reason it is left out.
import { isFault, messageOf, VendorFault } from "../fault.ts";
import { compareNatural } from "../natural-order.ts";
import { osinfoRef, releaseEntry } from "../osinfo/lookup.ts";
import type { Build, Release } from "../tree/model.ts";
import type { DistroTree } from "../tree/tree.ts";
import type { ArchiveCandidate, Candidate, Resolved, Visit } from "../vendor.ts";
import type { Web } from "../web/web.ts";
import { resolveBuild } from "./build.ts";
import { isAbsent, isToken } from "./policy.ts";
import type { Notes } from "./report.ts";

export type ReleaseSetting = {
  readonly visit: Visit;
  readonly web: Web;
  readonly notes: Notes;
  readonly distro: string;
  readonly previous: DistroTree | null;
  readonly first_seen: string;
  readonly accept_changes: boolean;
};
export type ResolvedRelease = {
  /** Without aliases: those are given when every release is known. */
  readonly release: Release;
  readonly current: readonly Build[];
  readonly archived: readonly Build[];
};

export async function resolveRelease(candidate: Candidate, setting: ReleaseSetting): Promise<ResolvedRelease | null> {
  const { notes, distro } = setting;
  if (!isToken(candidate.token)) throw new VendorFault("unreadable", `"${candidate.token}" cannot be a release id`);
  let id = candidate.token;
  try {
    const resolved = await candidate.resolve();
    const release = releaseOf(candidate, resolved, distro);
    id = release.id;
    const current = await currentBuilds(resolved, release, setting);
    if (current.length === 0) throw new VendorFault("not_recorded", `${id}: no image of it could be had`);
    const archived = await archivedBuilds(resolved.archive ?? [], { ...setting, release, current });
    return { release, current, archived };
  } catch (error) {
    if (isFault(error, "held")) return kept(id, messageOf(error), setting);
    if (!isAbsent(error)) throw error;
    notes.warn(`${id}: left out: ${messageOf(error)}`);
    return null;
  }
}

function releaseOf(candidate: Candidate, resolved: Resolved, distro: string): Release {
  const known = resolved.release;
  if (candidate.channel && known === undefined) {
    throw new VendorFault("unreadable", `channel ${candidate.token} does not say which release it is`);
  }
  const id = known?.id ?? candidate.token;
  if (!isToken(id)) throw new VendorFault("unreadable", `"${id}" cannot be a release id`);
  const version = known?.version ?? candidate.version;
  return {
    id,
    version,
    title: known?.title ?? candidate.title,
    aliases: [],
    eol_date: candidate.eol_date,
    osinfo: osinfoRef(releaseEntry(distro, version)),
  };
}

async function currentBuilds(resolved: Resolved, release: Release, setting: ReleaseSetting): Promise<Build[]> {
  if (resolved.builds.length === 0) throw new VendorFault("unreadable", `${release.id}: no build`);
  const previous = setting.previous?.current.get(release.id) ?? [];
  const builds: Build[] = [];
  for (const [index, draft] of resolved.builds.entries()) {
    try {
      const build = await resolveBuild(draft, { ...setting, kind: "primary", release: release.id, previous });
      if (build !== null) builds.push(build);
    } catch (error) {
      // Of several current builds only the newest decides about the release.
      if (index === 0 || !isAbsent(error)) throw error;
      setting.notes.warn(`${release.id} ${draft.build}: left out: ${messageOf(error)}`);
    }
  }
  return builds;
}

type ArchiveSetting = ReleaseSetting & { readonly release: Release; readonly current: readonly Build[] };

/** What was archived stays; a vault is asked only for point releases that are not there yet. */
async function archivedBuilds(candidates: readonly ArchiveCandidate[], setting: ArchiveSetting): Promise<Build[]> {
  const { release, current, previous, visit } = setting;
  const is_current = (build: string) => current.some((candidate) => candidate.build === build);
  const kept = (previous?.archived.get(release.id) ?? []).filter(({ build }) => !is_current(build));
  const builds = [...kept];
  for (const candidate of candidates) {
    if (kept.some(({ point_release }) => point_release === candidate.point_release)) continue;
    const made = await visit.optional(`${release.id} archive of ${candidate.point_release}`, async () => {
      const draft = await candidate.resolve();
      if (draft === null || is_current(draft.build)) return null;
      return resolveBuild(draft, { ...setting, kind: "vault", release: release.id, previous: [] });
    });
    if (made !== null) builds.push(made);
  }
  return byPointRelease(builds);
}

function byPointRelease(builds: Build[]): Build[] {
  return builds.sort((a, b) =>
    compareNatural(b.point_release ?? "", a.point_release ?? "") || compareNatural(b.build, a.build)
  );
}

function kept(id: string, why: string, { notes, previous }: ReleaseSetting): ResolvedRelease | null {
  const release = previous?.distro.releases.find((candidate) => candidate.id === id);
  const current = previous?.current.get(id);
  notes.alarm(`${id}: ${release === undefined ? "left out" : "kept as it was"}: ${why}`);
  if (release === undefined || current === undefined) return null;
  return { release: { ...release, aliases: [] }, current, archived: previous?.archived.get(id) ?? [] };
}
