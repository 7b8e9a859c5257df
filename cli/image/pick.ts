// Finds a build and a file by the user's reference DISTRO/RELEASE[/BUILD]. RELEASE may be an alias or a version; BUILD
// is the newest by default.
import { EXIT } from "../internal/exit-code.ts";
import { Failure, usageFailure } from "../internal/failure.ts";
import { isVersion, matchesOptions } from "./filter.ts";
import { type Artifact, buildsOf, type Image } from "./model.ts";
import type { PickOptions } from "./options.ts";
import type { Source } from "./source.ts";

const DEFAULT_ARCH = "x86_64";

/** Throws a Failure with exit code 3 that lists the existing names. */
export async function findImage(source: Source, reference: string): Promise<Image> {
  const [distro = "", release = "", build, ...rest] = reference.split("/");
  if (distro === "" || release === "" || build === "" || rest.length > 0) {
    throw usageFailure(`${reference} is not an image; write DISTRO/RELEASE or DISTRO/RELEASE/BUILD`);
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
  const path = `v1/distros/${distro.id}/releases/${release.id}/archive.json`;
  const document = await source.json(path);
  if (document === null) return [];
  return buildsOf(document, `${source.name}: ${path}`).map((build) => ({ distro, release, build }));
}

function missing(what: string, existing: readonly string[]): Failure {
  const names = [...new Set(existing)];
  return new Failure(`the index has no ${what}; it has ${names.join(", ") || "none"}`, EXIT.not_found);
}

/** Returns the artifact that matches the options. Throws a Failure that lists the choices if several match. */
export function pickArtifact(image: Image, options: PickOptions): Artifact {
  const { artifacts } = image.build;
  const matching = artifacts.filter((artifact) => matchesOptions(artifact, options));
  if (matching.length === 0) throw missing(`such file of ${imageName(image)}`, artifacts.map(artifactName));
  const on_arch = preferred(matching, ({ arch }) => arch === DEFAULT_ARCH);
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
