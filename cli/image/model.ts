// Checks the documents of an index that this client reads (docs/image-index.md). A checked document is returned
// unchanged, so that a mirror keeps the fields of later versions. This file uses no schema library, to keep the
// executables small.
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";
import type { Build, Distro, Image } from "../../src/lib/image-index/documents.ts";
import { isSafeName } from "../../src/lib/image-index/paths.ts";

export type {
  Artifact,
  Build,
  Digest,
  Distro,
  Image,
  Location,
  Release,
  Signature,
} from "../../src/lib/image-index/documents.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Returns the images of v1/images.json. Throws a Failure when the document is malformed. */
export function imagesOf(document: unknown, where: string): readonly Image[] {
  return reading(where, () => each(fields(document).images, checkImage)) as readonly Image[];
}

/** Returns a distro file. Throws a Failure when the document is malformed. */
export function distroOf(document: unknown, where: string): Distro {
  return reading(where, () => {
    checkDistro(document);
    each(fields(document).releases, checkRelease);
    return document;
  }) as Distro;
}

/** Returns the builds of a release or archive file. Throws a Failure when the document is malformed. */
export function buildsOf(document: unknown, where: string): readonly Build[] {
  return reading(where, () => each(fields(document).builds, checkBuild)) as readonly Build[];
}

class Malformed extends Error {}

function reading(where: string, work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    throw new Failure(`${where} is not a valid document of an image index: ${error.message}`, EXIT.failure);
  }
}

function checkImage(value: unknown): void {
  const { distro, release, build } = fields(value);
  checkDistro(distro);
  checkRelease(release);
  checkBuild(build);
}

function checkDistro(value: unknown): void {
  token(fields(value).id, "a distro's id");
}

function checkRelease(value: unknown): void {
  const { id, aliases } = fields(value);
  token(id, "a release's id");
  each(aliases ?? [], (alias) => token(alias, "an alias"));
}

function checkBuild(value: unknown): void {
  const { build, artifacts } = fields(value);
  token(build, "a build's id");
  each(artifacts, checkArtifact);
}

function checkArtifact(value: unknown): void {
  const artifact = fields(value);
  for (const name of ["arch", "format"]) token(artifact[name], `an artifact's ${name}`);
  text(artifact.compression, "an artifact's compression");
  if (artifact.variant !== undefined && artifact.variant !== null) token(artifact.variant, "an artifact's variant");
  const { size } = artifact;
  if (size !== undefined && size !== null && !(Number.isSafeInteger(size) && Number(size) >= 0)) {
    throw new Malformed("a size is not a number of bytes");
  }
  each(artifact.locations, (location) => text(fields(location).url, "a location's url"));
  const { digests, signatures } = fields(artifact.integrity ?? {});
  each(digests ?? [], checkDigest);
  each(signatures ?? [], (signature) => {
    const { kind, signs, url } = fields(signature);
    for (const each of [kind, signs, url]) text(each, "a signature's field");
  });
}

function checkDigest(value: unknown): void {
  const { algorithm, value: hex, source } = fields(value);
  text(algorithm, "a digest's algorithm");
  if (typeof hex !== "string" || !/^[0-9a-f]{32,128}$/.test(hex)) throw new Malformed("a digest is not hex");
  if (source === undefined || source === null) return;
  const { format, url } = fields(source);
  for (const each of [format, url]) text(each, "a digest's source");
}

function fields(value: unknown): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Malformed("an object is missing");
  return value as Fields;
}

function each(value: unknown, check: (item: unknown) => void): readonly unknown[] {
  if (!Array.isArray(value)) throw new Malformed("a list is missing");
  value.forEach(check);
  return value;
}

function text(value: unknown, what: string): void {
  if (typeof value !== "string") throw new Malformed(`${what} is not text`);
}

/** Checks a name that becomes part of paths in the index and of file paths on this machine. */
function token(value: unknown, what: string): void {
  if (typeof value !== "string" || !isSafeName(value)) {
    throw new Malformed(`${what} is not a plain name`);
  }
}
