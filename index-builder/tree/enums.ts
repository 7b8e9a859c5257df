// The closed and open sets of document 1. This file imports nothing.

export const OS_FAMILIES = ["linux", "bsd", "illumos"] as const;
export type OsFamily = (typeof OS_FAMILIES)[number];
export const LOCATION_KINDS = ["primary", "vault", "mirror"] as const;
export type LocationKind = (typeof LOCATION_KINDS)[number];
export const DIGEST_ALGORITHMS = ["sha256", "sha512"] as const;
export type DigestAlgorithm = (typeof DIGEST_ALGORITHMS)[number];
export const FIRMWARES = ["bios", "uefi"] as const;
export type Firmware = (typeof FIRMWARES)[number];

// The open ones: a reader must take any other string, and so does the check. The vendors of this version use these.
export const ALIASES = ["latest", "lts", "dev"] as const;
export type Alias = (typeof ALIASES)[number];
export const CHECKSUM_FORMATS = ["gnu", "bsd", "bare", "vendor_document"] as const;
export type ChecksumFormat = (typeof CHECKSUM_FORMATS)[number];
export const COMPRESSIONS = ["none", "gzip", "xz", "zstd", "bzip2"] as const;
export type Compression = (typeof COMPRESSIONS)[number];
export const IMAGE_FORMATS = ["qcow2", "raw", "vmdk"] as const;
export type ImageFormat = (typeof IMAGE_FORMATS)[number];
export const SIGNATURE_KINDS = ["pgp_detached", "pgp_clearsigned"] as const;
export type SignatureKind = (typeof SIGNATURE_KINDS)[number];
