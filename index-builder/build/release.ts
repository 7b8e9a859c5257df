// Resolves one candidate into its release, current builds and archive. After some faults, keeps the release of the
// previous tree or leaves the candidate out, and notes the reason. Throws any other fault, because it affects the whole
// vendor.
import { isFault, messageOf, VendorFault } from "../fault.ts";
import { osinfoRef, releaseEntry } from "../osinfo/lookup.ts";
import type { Build, Release } from "../tree/model.ts";
import { compareArchived } from "../tree/order.ts";
import type { DistroTree } from "../tree/tree.ts";
import type { Candidate, Resolved, Visit } from "../vendor.ts";
import type { Web } from "../web/web.ts";
import { resolveBuild } from "./build.ts";
import { type Departed, departedOf } from "./departed.ts";
import type { Gaps } from "./gaps.ts";
import { isName } from "../../src/lib/image-index/paths.ts";
import { isAbsent } from "./policy.ts";
import type { Notes } from "./report.ts";

export type ReleaseSetting = {
  readonly visit: Visit;
  readonly gaps: Gaps;
  /**
   * `visit` and `gaps` for a vault, the vendor's archive of earlier builds. In a vault, a transient fault in a part of
   * a build never becomes a gap: the builder leaves out the whole point release, and the next run tries again.
   */
  readonly vault: { readonly visit: Visit; readonly gaps: Gaps };
  readonly web: Web;
  readonly notes: Notes;
  readonly distro: string;
  readonly previous: DistroTree | null;
  readonly departed: Departed;
  readonly first_seen: string;
  readonly accept_changes: boolean;
};
export type ResolvedRelease = {
  /** The release without its aliases, which are assigned when every release is known. */
  readonly release: Release;
  readonly current: readonly Build[];
  readonly archived: readonly Build[];
  readonly departed: Departed;
};

export async function resolveRelease(candidate: Candidate, setting: ReleaseSetting): Promise<ResolvedRelease | null> {
  const { notes, distro } = setting;
  if (!isName(candidate.token)) throw new VendorFault("unreadable", `"${candidate.token}" cannot be a release id`);
  let id = candidate.token;
  try {
    const resolved = await candidate.resolve();
    const release = releaseOf(candidate, resolved, distro);
    id = release.id;
    const current = await currentBuilds(resolved, release, setting);
    if (current.length === 0) throw new VendorFault("not_recorded", `${id}: no image is available`);
    const archived = await archivedBuilds(resolved, { ...setting, release, current });
    const before = resolved.archive === undefined ? [] : setting.previous?.current.get(id) ?? [];
    return {
      release,
      current,
      archived,
      departed: departedOf(setting.departed, { release: id, before, current, archived }),
    };
  } catch (error) {
    if (isFault(error, "held", "unverifiable")) return kept(id, messageOf(error), setting);
    if (!isAbsent(error)) throw error;
    notes.warn(`${id}: left out: ${messageOf(error)}`);
    return null;
  }
}

function releaseOf(candidate: Candidate, resolved: Resolved, distro: string): Release {
  const known = resolved.release;
  if (candidate.channel && known === undefined) {
    throw new VendorFault("unreadable", `channel ${candidate.token} does not name its release`);
  }
  const id = known?.id ?? candidate.token;
  if (!isName(id)) throw new VendorFault("unreadable", `"${id}" cannot be a release id`);
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
  if (resolved.builds.length === 0) throw new VendorFault("unreadable", `${release.id}: has no build`);
  const previous = setting.previous?.current.get(release.id) ?? [];
  const builds: Build[] = [];
  for (const [index, draft] of resolved.builds.entries()) {
    try {
      const build = await resolveBuild(draft, { ...setting, kind: "primary", release: release.id, previous });
      if (build !== null) builds.push(build);
    } catch (error) {
      // Every fault of the newest build fails the release.
      if (index === 0) throw error;
      const what = `${release.id} ${draft.build}`;
      if (isAbsent(error)) setting.notes.warn(`${what}: left out: ${messageOf(error)}`);
      else if (!setting.gaps.allows(what, error)) throw error;
    }
  }
  return builds;
}

type ArchiveSetting = ReleaseSetting & { readonly release: Release; readonly current: readonly Build[] };

/**
 * Keeps archived builds, and asks the vault only for point releases that the archive lacks. A fault leaves out one
 * point release, or all new point releases if the vault cannot be listed. The next run tries again.
 */
async function archivedBuilds(resolved: Resolved, setting: ArchiveSetting): Promise<Build[]> {
  const { release, current, previous, notes, departed, first_seen, vault } = setting;
  const is_current = (build: string) => current.some((candidate) => candidate.build === build);
  const kept = (previous?.archived.get(release.id) ?? []).filter(({ build }) => !is_current(build));
  const before = [...previous?.current.get(release.id) ?? [], ...kept];
  const builds = [...kept];
  const candidates = await orNull(notes, "vault", () => resolved.archive?.(vault.visit) ?? Promise.resolve([])) ?? [];
  for (const candidate of candidates) {
    if (kept.some(({ point_release }) => point_release === candidate.point_release)) continue;
    const made = await orNull(notes, `${release.id} archive of ${candidate.point_release}`, async () => {
      const draft = await candidate.resolve();
      if (draft === null || is_current(draft.build)) return null;
      return resolveBuild(draft, {
        ...setting,
        ...vault,
        kind: "vault",
        release: release.id,
        previous: before,
        first_seen: departed[`${release.id}/${draft.build}`] ?? first_seen,
      });
    });
    if (made !== null) builds.push(made);
  }
  return builds.sort(compareArchived);
}

/**
 * Returns the result of `work`, or null if `work` throws. Notes every error except the fault `gone`. The note is an
 * alarm if an attacker could have caused the error.
 */
async function orNull<T>(notes: Notes, what: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (isFault(error, "gone")) return null;
    const text = `${what}: left out: ${messageOf(error)}`;
    if (isFault(error, "untrusted", "unsafe", "held")) notes.alarm(text);
    else notes.warn(text);
    return null;
  }
}

function kept(id: string, why: string, { notes, previous, departed }: ReleaseSetting): ResolvedRelease | null {
  const release = previous?.distro.releases.find((candidate) => candidate.id === id);
  const current = previous?.current.get(id);
  notes.alarm(`${id}: ${release === undefined ? "left out" : "kept unchanged"}: ${why}`);
  if (release === undefined || current === undefined) return null;
  const archived = previous?.archived.get(id) ?? [];
  return {
    release: { ...release, aliases: [] },
    current,
    archived,
    departed: departedOf(departed, { release: id, before: [], current, archived }),
  };
}
