// Defines the schemas of the documents (docs/image-index.md). The order of the keys is their order in the files.
// Reading is lenient: an absent optional field becomes null or empty, an unknown field is dropped, and an unknown value
// of an open set passes. check.ts is strict: it reads a document, writes it again, and compares the text with the file.
import { z } from "zod";
import type * as read from "../../src/lib/image-index/documents.ts";
import {
  ALIASES,
  CHECKSUM_FORMATS,
  COMPRESSIONS,
  DIGEST_ALGORITHMS,
  FIRMWARES,
  IMAGE_FORMATS,
  LOCATION_KINDS,
  OS_FAMILIES,
  SIGNATURE_KINDS,
} from "../../src/lib/image-index/values.ts";

const text = z.string();
const maybeText = text.nullable().default(null);
const maybeFlag = z.boolean().nullable().default(null);

/** Returns the schema of an open set: the API description lists the known values, and any other string passes. */
function open(name: string, values: readonly string[], summary: string) {
  return z.string().meta({ id: name, description: summary, open_values: [...values] });
}

export const AliasName = open(
  "Alias",
  ALIASES,
  "latest: the newest generally available release; lts: the newest long-term release; dev: the development channel",
);
export const ChecksumFormatName = open(
  "ChecksumFormat",
  CHECKSUM_FORMATS,
  "Layout of the document with the hash",
);
export const CompressionName = open("Compression", COMPRESSIONS, "Compression of the file as downloaded");
export const ImageFormatName = open("ImageFormat", IMAGE_FORMATS, "Disk image format once decompressed");
export const SignatureKindName = open("SignatureKind", SIGNATURE_KINDS, "Kind of the signature");

export const OsinfoRef = z.object({ id: text, short_id: text }).meta({ id: "OsinfoRef" });
export const ChecksumSource = z.object({ url: text, format: ChecksumFormatName, filename: maybeText })
  .meta({ id: "ChecksumSource", description: "Where the vendor publishes the hash" });
export const Digest = z.object({
  algorithm: z.enum(DIGEST_ALGORITHMS),
  value: text.describe("Lowercase hex"),
  source: ChecksumSource.nullable().default(null),
}).meta({ id: "Digest" });
export const Signature = z.object({
  url: text.describe("URL of the signature"),
  kind: SignatureKindName,
  signs: text.describe("URL of the signed file: a checksum document or the image"),
  key_url: maybeText.describe("Where the vendor publishes the signing key"),
}).meta({ id: "Signature" });
export const HttpMetadata = z.object({ last_modified: maybeText, etag: maybeText }).meta({ id: "HttpMetadata" });
export const Integrity = z.object({
  digests: z.array(Digest).default([]),
  signatures: z.array(Signature).default([]),
  http: HttpMetadata.nullable().default(null),
}).meta({ id: "Integrity" });
export const Location = z.object({
  url: text,
  kind: z.enum(LOCATION_KINDS).nullable().default(null),
  redirects_off_host: maybeFlag.describe("Whether the vendor answers url with a redirect to a different host"),
}).meta({ id: "Location" });
export const Artifact = z.object({
  variant: maybeText.describe("Vendor's flavour of the image"),
  default_variant: maybeFlag,
  arch: text.describe("Architecture, by its name in the osinfo database"),
  format: ImageFormatName,
  compression: CompressionName,
  firmware: z.array(z.enum(FIRMWARES)).default([]).describe("Empty when unknown"),
  datasources: z.array(text).default([]).describe("cloud-init datasources; empty when unknown"),
  ssh_key_injection: maybeFlag,
  size: z.int().min(0).nullable().default(null).meta({
    description: "Bytes of the file as downloaded",
    format: "uint64",
  }),
  locations: z.array(Location),
  integrity: Integrity.nullable().default(null),
}).meta({ id: "Artifact" });
export const Build = z.object({
  build: text.describe("Vendor's build id or serial"),
  point_release: maybeText,
  published_at: maybeText.meta({
    description: "When the vendor published the build; null if unknown",
    format: "date-time",
  }),
  first_seen: maybeText.meta({ description: "When the index first recorded the build", format: "date-time" }),
  osinfo: OsinfoRef.nullable().default(null),
  artifacts: z.array(Artifact),
}).meta({ id: "Build" });
export const BuildList = z.object({ distro: text, release: text, builds: z.array(Build).describe("Newest first") })
  .meta({ id: "BuildList" });
export const Release = z.object({
  id: text,
  version: maybeText,
  title: maybeText,
  aliases: z.array(AliasName).default([]),
  eol_date: maybeText.meta({ description: "Vendor's end-of-support date", format: "date" }),
  osinfo: OsinfoRef.nullable().default(null),
}).meta({ id: "Release" });
const summary = { id: text, name: maybeText, os_family: z.enum(OS_FAMILIES), homepage: maybeText };
export const DistroSummary = z.object(summary).meta({ id: "DistroSummary" });
export const Distro = z.object({
  ...summary,
  dev_channel: maybeText,
  releases: z.array(Release).describe("Newest first"),
})
  .meta({ id: "Distro" });
export const DistroList = z.object({ distros: z.array(DistroSummary) }).meta({ id: "DistroList" });
export const Image = z.object({ distro: DistroSummary, release: Release, build: Build }).meta({ id: "Image" });
export const ImageList = z.object({ images: z.array(Image) }).meta({ id: "ImageList" });

/**
 * Does not compile if a written document has other fields than the type that clients read, or a value that this type
 * refuses.
 */
type Readable<Read, Written extends Read> = keyof Written extends keyof Read
  ? keyof Read extends keyof Written ? true : never
  : never;
true satisfies
  & Readable<read.ImageList, ImageList>
  & Readable<read.DistroList, DistroList>
  & Readable<read.Distro, Distro>
  & Readable<read.BuildList, BuildList>
  & Readable<read.Image, Image>
  & Readable<read.DistroSummary, DistroSummary>
  & Readable<read.Release, Release>
  & Readable<read.OsinfoRef, OsinfoRef>
  & Readable<read.Build, Build>
  & Readable<read.Artifact, Artifact>
  & Readable<read.Location, Location>
  & Readable<read.Integrity, Integrity>
  & Readable<read.Digest, Digest>
  & Readable<read.ChecksumSource, ChecksumSource>
  & Readable<read.HttpMetadata, z.infer<typeof HttpMetadata>>
  & Readable<read.Signature, Signature>;

export type OsinfoRef = z.infer<typeof OsinfoRef>;
export type ChecksumSource = z.infer<typeof ChecksumSource>;
export type Digest = z.infer<typeof Digest>;
export type Signature = z.infer<typeof Signature>;
export type Integrity = z.infer<typeof Integrity>;
export type Location = z.infer<typeof Location>;
export type Artifact = z.infer<typeof Artifact>;
export type Build = z.infer<typeof Build>;
export type BuildList = z.infer<typeof BuildList>;
export type Release = z.infer<typeof Release>;
export type DistroSummary = z.infer<typeof DistroSummary>;
export type Distro = z.infer<typeof Distro>;
export type DistroList = z.infer<typeof DistroList>;
export type Image = z.infer<typeof Image>;
export type ImageList = z.infer<typeof ImageList>;
