// Defines the documents of an image index as a client reads them (docs/image-index.md). If later versions may add
// values to a field, the field is a plain string. A client accepts documents without the optional fields, and keeps
// fields that it does not know. The builder writes every field: its schemas (index-builder/tree/model.ts) compile only
// if they have the same fields as these types.

/** A distribution, as v1/index.json lists it. */
export type DistroSummary = {
  readonly id: string;
  readonly name?: string | null;
  readonly os_family?: string;
  readonly homepage?: string | null;
};
/** An entry of the osinfo database. */
export type OsinfoRef = { readonly id: string; readonly short_id: string };
/** A major version or series of a distribution. */
export type Release = {
  readonly id: string;
  readonly version?: string | null;
  readonly title?: string | null;
  readonly aliases?: readonly string[];
  readonly eol_date?: string | null;
  readonly osinfo?: OsinfoRef | null;
};
/** A distribution with its releases, newest first. */
export type Distro = DistroSummary & { readonly dev_channel?: string | null; readonly releases: readonly Release[] };
/** A URL of an image file; `kind` is primary, vault or mirror. */
export type Location = {
  readonly url: string;
  readonly kind?: string | null;
  readonly redirects_off_host?: boolean | null;
};
/** The vendor's document that contains a hash, and the file's name in this document. */
export type ChecksumSource = { readonly url: string; readonly format: string; readonly filename?: string | null };
/** A hash of an image file, in lower-case hex. */
export type Digest = {
  readonly algorithm: string;
  readonly value: string;
  readonly source?: ChecksumSource | null;
};
/** A vendor's signature; `signs` is the URL of the signed document or image. */
export type Signature = {
  readonly url: string;
  readonly kind: string;
  readonly signs: string;
  readonly key_url?: string | null;
};
/** The HTTP cache validators that the vendor's server sent for an image file. */
export type HttpMetadata = { readonly last_modified?: string | null; readonly etag?: string | null };
/** Digests, signatures and HTTP metadata of an image file. */
export type Integrity = {
  readonly digests?: readonly Digest[];
  readonly signatures?: readonly Signature[];
  readonly http?: HttpMetadata | null;
};
/** One file of a build, named by variant, architecture and format; `size` in bytes. */
export type Artifact = {
  readonly variant?: string | null;
  readonly default_variant?: boolean | null;
  readonly arch: string;
  readonly format: string;
  readonly compression: string;
  readonly firmware?: readonly string[];
  readonly datasources?: readonly string[];
  readonly ssh_key_injection?: boolean | null;
  readonly size?: number | null;
  readonly locations: readonly Location[];
  readonly integrity?: Integrity | null;
};
/** One published version of a release's images. The bytes of a build never change. */
export type Build = {
  readonly build: string;
  readonly point_release?: string | null;
  readonly published_at?: string | null;
  readonly first_seen?: string | null;
  readonly osinfo?: OsinfoRef | null;
  readonly artifacts: readonly Artifact[];
};
/** The content of a release, archive or alias file: the builds of a release, newest first. */
export type BuildList = { readonly distro: string; readonly release: string; readonly builds: readonly Build[] };
/** The content of v1/index.json. */
export type DistroList = { readonly distros: readonly DistroSummary[] };
/** A current build with its distro and release. */
export type Image = { readonly distro: DistroSummary; readonly release: Release; readonly build: Build };
/** The content of v1/images.json. */
export type ImageList = { readonly images: readonly Image[] };

/**
 * The largest vendor document (checksums, signature or key) that is read, in bytes: 4 MiB. All known documents are much
 * smaller.
 */
export const VENDOR_DOCUMENT_BYTES_MAX = 4 * 1024 * 1024;

/** Returns the text of a document in an index: JSON with an indent of two spaces and a final newline. */
export function documentText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
