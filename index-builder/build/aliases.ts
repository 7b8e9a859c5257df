// Assigns the aliases latest, lts and dev. This step runs after unsupported and faulty releases were left out, so that
// every alias points at a published release.
import { VendorFault } from "../fault.ts";
import type { Candidate } from "../vendor.ts";
import type { ResolvedRelease } from "./release.ts";

/** A release with the labels of all candidates that resolved to it: two channels can resolve to the same release. */
export type Labelled = {
  readonly resolved: ResolvedRelease;
  readonly labels: readonly Pick<Candidate, "dev" | "lts">[];
};
export type Aliased = { readonly releases: readonly ResolvedRelease[]; readonly dev_channel: string | null };

/**
 * Assigns the aliases to releases.
 * @param found the releases, newest first, as the vendor's module lists them
 */
export function giveAliases(found: readonly Labelled[]): Aliased {
  const latest = found.find(({ labels }) => labels.some(({ dev }) => dev === null));
  const lts = found.find(({ labels }) => labels.some((label) => label.lts));
  const dev = found.find(({ labels }) => labels.some((label) => label.dev !== null));
  const releases = found.map((entry) => {
    const aliases = [
      ...(entry === latest ? ["latest"] : []),
      ...(entry === lts ? ["lts"] : []),
      ...(entry === dev ? ["dev"] : []),
    ];
    const { resolved } = entry;
    return { ...resolved, release: { ...resolved.release, aliases } };
  });
  const label = dev?.labels.find((candidate) => candidate.dev !== null)?.dev ?? null;
  return { releases, dev_channel: label?.toLowerCase() ?? null };
}

/**
 * Merges channels that resolved to the same release into one entry, at the position of the first channel. Throws a
 * VendorFault if two candidates have the same release id and one of them is not a channel.
 */
export function mergeChannels(found: readonly { candidate: Candidate; resolved: ResolvedRelease }[]): Labelled[] {
  const merged = new Map<string, { resolved: ResolvedRelease; labels: Candidate[] }>();
  for (const { candidate, resolved } of found) {
    const before = merged.get(resolved.release.id);
    if (before === undefined) merged.set(resolved.release.id, { resolved, labels: [candidate] });
    else if (before.labels[0]!.channel && candidate.channel) before.labels.push(candidate);
    else throw new VendorFault("unreadable", `two releases have the id ${resolved.release.id}`);
  }
  return [...merged.values()];
}
