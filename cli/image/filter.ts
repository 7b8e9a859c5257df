// Selects images and their files by the options.
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";
import { nearNames } from "../../src/lib/text/near-names.ts";
import type { Artifact, Image, Release } from "./model.ts";
import type { FilterOptions, PickOptions } from "./options.ts";

/**
 * Returns the images that match, each with its matching artifacts only. Throws a Failure for a distribution that no
 * image has.
 */
export function filterImages(images: readonly Image[], filter: FilterOptions): Image[] {
  if (filter.distro !== undefined) checkDistro(images, filter.distro);
  return images.flatMap((image) => {
    const { distro, release, build } = image;
    const meant = (filter.distro === undefined || distro.id === filter.distro) &&
      (filter.release === undefined || release.id === filter.release || isVersion(release, filter.release)) &&
      (filter.alias === undefined || (release.aliases ?? []).includes(filter.alias));
    const artifacts = meant ? build.artifacts.filter((artifact) => isMeant(artifact, filter)) : [];
    return artifacts.length === 0 ? [] : [{ ...image, build: { ...build, artifacts } }];
  });
}

function checkDistro(images: readonly Image[], wanted: string): void {
  const distros = [...new Set(images.map(({ distro }) => distro.id))];
  if (distros.includes(wanted)) return;
  const near = nearNames(distros, wanted);
  const hint = near.length > 0 ? `did you mean ${near.join(" or ")}?` : `it has ${distros.join(", ") || "none"}`;
  throw new Failure(`the index has no distro ${wanted}; ${hint}`, EXIT.not_found);
}

/** Returns whether a release has this version. The text `13` matches version 13 and version 13.7. */
export function isVersion({ version }: Release, name: string): boolean {
  return version === name || (version ?? "").startsWith(`${name}.`);
}

export function isMeant({ arch, variant, format }: Artifact, filter: PickOptions): boolean {
  return (filter.arch === undefined || arch === filter.arch) &&
    (filter.variant === undefined || variant === filter.variant) &&
    (filter.format === undefined || format === filter.format);
}
