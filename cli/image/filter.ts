// Selects images and their files by the options.
import type { Artifact, Image, Release } from "./model.ts";
import type { FilterOptions, PickOptions } from "./options.ts";

/** Returns the images that match, each with its matching artifacts only. */
export function filterImages(images: readonly Image[], filter: FilterOptions): Image[] {
  return images.flatMap((image) => {
    const { distro, release, build } = image;
    const meant = (filter.distro === undefined || distro.id === filter.distro) &&
      (filter.release === undefined || release.id === filter.release || isVersion(release, filter.release)) &&
      (filter.alias === undefined || (release.aliases ?? []).includes(filter.alias));
    const artifacts = meant ? build.artifacts.filter((artifact) => isMeant(artifact, filter)) : [];
    return artifacts.length === 0 ? [] : [{ ...image, build: { ...build, artifacts } }];
  });
}

/** Returns whether a release has this version: `13` also matches version 13.7. */
export function isVersion({ version }: Release, name: string): boolean {
  return version === name || (version ?? "").startsWith(`${name}.`);
}

export function isMeant({ arch, variant, format }: Artifact, filter: PickOptions): boolean {
  return (filter.arch === undefined || arch === filter.arch) &&
    (filter.variant === undefined || variant === filter.variant) &&
    (filter.format === undefined || format === filter.format);
}
