// Defines the sets of values in the documents of an image index (docs/image-index.md). A set is open if later versions
// may add values.
import type { ListFormat } from "../crypto/checksum-line.ts";
import type { DigestAlgorithm } from "../crypto/digest-hex.ts";

/** Families of operating systems. */
export const OS_FAMILIES = ["linux", "bsd", "illumos"] as const;
/** One of OS_FAMILIES. */
export type OsFamily = (typeof OS_FAMILIES)[number];

/** Kinds of locations: the vendor's main tree, its vault (the archive of ended releases), a mirror. */
export const LOCATION_KINDS = ["primary", "vault", "mirror"] as const;
/** One of LOCATION_KINDS. */
export type LocationKind = (typeof LOCATION_KINDS)[number];

/** Hash algorithms of digests. */
export const DIGEST_ALGORITHMS = ["sha256", "sha512"] as const satisfies readonly DigestAlgorithm[];

/** Firmwares that can boot an image. */
export const FIRMWARES = ["bios", "uefi"] as const;
/** One of FIRMWARES. */
export type Firmware = (typeof FIRMWARES)[number];

/** Aliases of releases, in the order in which documents list them. An open set: a reader accepts any other string. */
export const ALIASES = ["latest", "lts", "dev"] as const;
/** One of ALIASES. */
export type Alias = (typeof ALIASES)[number];

/** Formats of checksum lists that this version can read. */
const LIST_FORMATS = ["gnu", "bsd", "bare"] as const satisfies readonly ListFormat[];

/** Formats of documents that contain hashes. An open set. */
export const CHECKSUM_FORMATS = [...LIST_FORMATS, "vendor_document"] as const;
/** One of CHECKSUM_FORMATS. */
export type ChecksumFormat = (typeof CHECKSUM_FORMATS)[number];

/** Compressions of image files. An open set. */
export const COMPRESSIONS = ["none", "gzip", "xz", "zstd", "bzip2"] as const;
/** One of COMPRESSIONS. */
export type Compression = (typeof COMPRESSIONS)[number];

/** Formats of disk images. An open set. */
export const IMAGE_FORMATS = ["qcow2", "raw", "vmdk"] as const;
/** One of IMAGE_FORMATS. */
export type ImageFormat = (typeof IMAGE_FORMATS)[number];

/** Kinds of signatures. An open set. */
export const SIGNATURE_KINDS = ["pgp_detached", "pgp_clearsigned"] as const;
/** One of SIGNATURE_KINDS. */
export type SignatureKind = (typeof SIGNATURE_KINDS)[number];

/**
 * Returns whether this version can read a checksum document of this format. It cannot read a vendor_document, such as a
 * web page.
 */
export function isListFormat(text: string): text is ListFormat {
  return LIST_FORMATS.some((format) => format === text);
}

/** Returns whether this version can verify a signature of this kind. */
export function isSignatureKind(text: string): text is SignatureKind {
  return SIGNATURE_KINDS.some((kind) => kind === text);
}
