// Finds the build and the file that a user names: DISTRO/RELEASE[/BUILD], where RELEASE may be an alias or a version.
// The default BUILD is the newest.
import { EXIT } from "../internal/exit-code.ts";
import { Failure, usageFailure } from "../internal/failure.ts";
import { archivePath } from "../../src/lib/image-index/paths.ts";
import { isMeant, isVersion } from "./filter.ts";
import { type Artifact, buildsOf, type Image } from "./model.ts";
import type { PickOptions } from "./options.ts";
import type { Source } from "./source.ts";

const DEFAULT_ARCH = "x86_64";

/**
 * Finds an image by its reference. Throws a usage Failure for a malformed reference. If no image matches, throws a
 * Failure with exit code 3 that lists the choices.
 */
export async function findImage(source: Source, reference: string): Promise<Image> {
  const [distro = "", release = "", build, ...rest] = reference.split("/");
  if (distro === "" || release === "" || build === "" || rest.length > 0) {
    throw usageFailure(`${reference}: name an image as DISTRO/RELEASE or DISTRO/RELEASE/BUILD`);
  }
  const images = await source.images();
  const of_distro = images.filter((image) => image.distro.id === distro);
  if (of_distro.length === 0) throw missing(`distro ${distro}`, images.map((image) => image.distro.id));
  const current = ofRelease(of_distro, release);
  if (current.length === 0) throw missing(`${distro} release ${release}`, of_distro.flatMap(namesOfRelease));
  const found = build === undefined ? current[0] : current.find((image) => image.build.build === build);
  if (found !== undefined) return found;
  const archived = await archivedImages(source, current[0]!);
  const old = archived.find((image) => image.build.build === build);
  if (old !== undefined) return old;
  throw missing(`${distro}/${release} build ${build}`, [...current, ...archived].map((image) => image.build.build));
}

function ofRelease(images: readonly Image[], name: string): readonly Image[] {
  const by_id = images.filter(({ release }) => release.id === name);
  if (by_id.length > 0) return by_id;
  const by_alias = images.filter(({ release }) => (release.aliases ?? []).includes(name));
  return by_alias.length > 0 ? by_alias : images.filter(({ release }) => isVersion(release, name));
}

function namesOfRelease({ release }: Image): string[] {
  return [release.id, ...(release.aliases ?? [])];
}

async function archivedImages(source: Source, { distro, release }: Image): Promise<Image[]> {
  const path = archivePath(distro.id, release.id);
  const document = await source.json(path);
  if (document === null) return [];
  return buildsOf(document, `${source.name}: ${path}`).map((build) => ({ distro, release, build }));
}

function missing(what: string, there: readonly string[]): Failure {
  const names = [...new Set(there)];
  return new Failure(`the index has no ${what}; it has ${names.join(", ") || "none"}`, EXIT.not_found);
}

/**
 * Picks one artifact that the options match. If several match, prefers x86_64, then the default variant. Throws a
 * Failure that lists the choices if no artifact matches, or if several remain.
 */
export function pickArtifact(image: Image, options: PickOptions): Artifact {
  const { artifacts } = image.build;
  const meant = artifacts.filter((artifact) => isMeant(artifact, options));
  if (meant.length === 0) {
    throw missing(`file of ${imageName(image)} that matches the options`, artifacts.map(artifactName));
  }
  const on_arch = preferred(meant, ({ arch }) => arch === DEFAULT_ARCH);
  const default_variant = preferred(on_arch, (artifact) => artifact.default_variant === true);
  if (default_variant.length === 1) return default_variant[0]!;
  const choices = default_variant.map(artifactName).join(", ");
  throw usageFailure(
    `${imageName(image)} has several files: ${choices}; choose one with --arch, --variant or --format`,
  );
}

function preferred(artifacts: readonly Artifact[], wanted: (artifact: Artifact) => boolean): readonly Artifact[] {
  const some = artifacts.filter(wanted);
  return some.length > 0 ? some : artifacts;
}

export function imageName({ distro, release, build }: Image): string {
  return `${distro.id}/${release.id}/${build.build}`;
}

export function artifactName({ variant, arch, format }: Artifact): string {
  return [variant, arch, format].filter((part) => part !== null && part !== undefined).join(" ");
}
