// The index documents of docs/image-index.md, as far as this client reads them. A checked document is passed on
// unchanged, so that fields of a later version survive in a mirror. Values of open enums are strings.
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";

export type DistroSummary = { readonly id: string; readonly name?: string | null; readonly os_family?: string };
export type Release = {
  readonly id: string;
  readonly title?: string | null;
  readonly version?: string | null;
  readonly eol_date?: string | null;
  readonly aliases?: readonly string[];
};
export type Distro = DistroSummary & { readonly dev_channel?: string | null; readonly releases: readonly Release[] };
export type Location = { readonly url: string; readonly kind?: string | null };
export type ChecksumSource = { readonly format: string; readonly url: string; readonly filename?: string | null };
export type Digest = {
  readonly algorithm: string;
  readonly value: string;
  readonly source?: ChecksumSource | null;
};
export type Signature = {
  readonly kind: string;
  readonly signs: string;
  readonly url: string;
  readonly key_url?: string | null;
};
export type Artifact = {
  readonly arch: string;
  readonly format: string;
  readonly compression: string;
  readonly variant?: string | null;
  readonly default_variant?: boolean | null;
  readonly firmware?: readonly string[];
  readonly datasources?: readonly string[];
  readonly ssh_key_injection?: boolean | null;
  readonly size?: number | null;
  readonly locations: readonly Location[];
  readonly integrity?: {
    readonly digests?: readonly Digest[];
    readonly signatures?: readonly Signature[];
  } | null;
};
export type Build = {
  readonly build: string;
  readonly point_release?: string | null;
  readonly published_at?: string | null;
  readonly first_seen?: string | null;
  readonly artifacts: readonly Artifact[];
};
export type Image = { readonly distro: DistroSummary; readonly release: Release; readonly build: Build };

type Fields = Readonly<Record<string, unknown>>;

export function imagesOf(document: unknown, where: string): readonly Image[] {
  return reading(where, () => each(fields(document).images, checkImage)) as readonly Image[];
}

export function distroOf(document: unknown, where: string): Distro {
  return reading(where, () => {
    checkDistro(document);
    each(fields(document).releases, checkRelease);
    return document;
  }) as Distro;
}

/** Returns the builds of a release or archive document. */
export function buildsOf(document: unknown, where: string): readonly Build[] {
  return reading(where, () => each(fields(document).builds, checkBuild)) as readonly Build[];
}

class MalformedDocument extends Error {}

function reading(where: string, work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof MalformedDocument)) throw error;
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
    throw new MalformedDocument("a size is not a number of bytes");
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
  if (typeof hex !== "string" || !/^[0-9a-f]{32,128}$/.test(hex)) throw new MalformedDocument("a digest is not hex");
  if (source === undefined || source === null) return;
  const { format, url } = fields(source);
  for (const each of [format, url]) text(each, "a digest's source");
}

function fields(value: unknown): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new MalformedDocument("an object is missing");
  }
  return value as Fields;
}

function each(value: unknown, check: (item: unknown) => void): readonly unknown[] {
  if (!Array.isArray(value)) throw new MalformedDocument("a list is missing");
  value.forEach(check);
  return value;
}

function text(value: unknown, what: string): void {
  if (typeof value !== "string") throw new MalformedDocument(`${what} is not text`);
}

/** Checks an id, which becomes a part of local paths. */
function token(value: unknown, what: string): void {
  if (typeof value !== "string" || !/^[A-Za-z0-9_][A-Za-z0-9._+~-]{0,63}$/.test(value)) {
    throw new MalformedDocument(`${what} is not a plain name`);
  }
}
