// Defines the interface of a vendor's module (vendors/*.ts). The module finds releases, builds and URLs, but does not
// decide what is published. The core (build/) reads checksum documents, verifies signatures, requests the metadata of
// every image, assigns aliases and keeps earlier values.
import type { z } from "zod";
import type { Checksums, ListFormat } from "./parse/checksums.ts";
import type { DigestAlgorithm } from "../src/lib/crypto/digest-hex.ts";
import type { Compression, Firmware, ImageFormat, OsFamily } from "../src/lib/image-index/values.ts";

export type Vendor = {
  /** The id of the distro, which is also the name of the distro's folder. */
  readonly id: string;
  readonly name: string;
  readonly homepage: string;
  readonly os_family: OsFamily;
  /** Hosts to which requests may be sent. Redirects may lead to any public host, because mirrors change. */
  readonly hosts: readonly string[];
  /** Members of `hosts` that do not offer https. */
  readonly plain_http_hosts?: readonly string[];
  /**
   * Name of the product at endoflife.date, or null. Releases whose support cycle has ended according to endoflife.date
   * are left out.
   */
  readonly end_of_life_product: string | null;
  /**
   * Lists candidates, newest first. The list includes unsupported candidates. The core leaves them out, except
   * pre-releases and development channels.
   */
  readonly list: (visit: Visit) => Promise<readonly Candidate[]>;
};

/** A release that may be published. A channel gets its `id`, `version` and `title` when it is resolved. */
export type Candidate = {
  /** Release id, or the channel's name. Letters, digits and . _ - only; the core checks this before `resolve` runs. */
  readonly token: string;
  readonly version: string | null;
  readonly title: string | null;
  readonly supported: boolean;
  readonly eol_date: string | null;
  /** True if the vendor calls the release long-term support. */
  readonly lts: boolean;
  /** The vendor's label of a pre-release or development channel ("Beta", "bloody"), or null. */
  readonly dev: string | null;
  readonly channel: boolean;
  readonly resolve: () => Promise<Resolved>;
};

export type Resolved = {
  /**
   * For a channel: the release to which it points (required). For other candidates: a version or title that only
   * `resolve` found.
   */
  readonly release?: { readonly id: string; readonly version: string | null; readonly title: string };
  /** The current builds, newest first; at least one. */
  readonly builds: readonly BuildDraft[];
  /**
   * Lists the final builds of ended point releases. These builds are in the vendor's vault, its folder of ended
   * releases. An archived build that is in the tree is never resolved again, so it must be complete. An incomplete
   * archived build is left out, and a later run adds it. A fault of the vault does not fail the vendor.
   */
  readonly archive?: (visit: Visit) => Promise<readonly ArchiveCandidate[]>;
};
export type ArchiveCandidate = {
  /** The ended point release. The index keeps one archived build of each point release. */
  readonly point_release: string;
  /** Returns the build, or null if the vault has no suitable image. */
  readonly resolve: () => Promise<BuildDraft | null>;
};

export type BuildDraft = {
  readonly build: string;
  readonly point_release: string | null;
  /** Time in RFC 3339, if the vendor publishes it. */
  readonly published_at?: string | null;
  /** The default artifact is first. If the vendor does not have the default artifact, the release is left out. */
  readonly artifacts: readonly ArtifactDraft[];
};

export type ArtifactDraft = {
  readonly url: string;
  readonly variant: string | null;
  readonly default_variant: boolean;
  /** The name of the architecture in the index (arch.ts), for example x86_64 or aarch64. */
  readonly arch: string;
  readonly format: ImageFormat;
  readonly compression: Compression;
  /** The supported firmware, from the vendor's documents or the file name; empty if unknown. */
  readonly firmware?: readonly Firmware[];
  readonly datasources?: readonly string[];
  readonly ssh_key_injection?: boolean | null;
  /** Size in bytes from a vendor's document. It must equal the length that the server reports. */
  readonly size?: number | null;
  readonly checksum: Checksum | null;
  /**
   * A signature of the image itself. It is published but not verified, because the builder does not download images.
   */
  readonly signature?: DetachedSignature | null;
};

/** The source of an image's hash. */
export type Checksum =
  | {
    readonly document: ChecksumDocument;
    /** File name in the document; null for a bare hash. */
    readonly filename: string | null;
    /**
     * The hash of the same image in another document of the vendor. If the two hashes differ, the image is not
     * published.
     */
    readonly expect?: string | null;
    /** The format to publish, if it differs from the format that the builder reads. */
    readonly published_format?: "bare";
  }
  | { readonly vendor_document: string; readonly algorithm: DigestAlgorithm; readonly value: string };

export type ChecksumDocument = {
  readonly url: string;
  readonly format: ListFormat;
  readonly algorithm: DigestAlgorithm;
  readonly signature: DocumentSignature | null;
  /**
   * Name of the document's series ("noble amd64 SHA256SUMS"). The default is the URL. A name is required if each
   * version of the document has its own URL. Two documents of one run must not share a series: the builder would refuse
   * one as a rollback, because it was signed before the other. For example, each architecture has its own series.
   */
  readonly series?: string;
};

export type DetachedSignature = {
  readonly kind: "pgp_detached";
  readonly url: string;
  readonly key: SigningKey | null;
};
export type DocumentSignature =
  | DetachedSignature
  /**
   * `twin`: URL of the clear-signed copy of a document that is not signed itself. The builder reads the twin's text.
   */
  | { readonly kind: "pgp_clearsigned"; readonly twin?: string; readonly key: SigningKey | null };

export type SigningKey = {
  readonly key_url: string;
  /** Fingerprints of the pinned primary keys: 40 or 64 hex digits, upper case. At least one is required. */
  readonly fingerprints: readonly string[];
};

/** The services that a vendor's module may use. The methods throw a VendorFault, which the core handles. */
export type Visit = {
  readonly now: Date;
  /** The date YYYY-MM-DD in UTC. */
  readonly today: string;
  text(url: string, options?: DocumentOptions): Promise<string>;
  json<T>(url: string, shape: z.ZodType<T>, options?: DocumentOptions): Promise<T>;
  /** Returns the names in a directory listing: "10/", "image.qcow2". */
  listing(url: string): Promise<readonly string[]>;
  /** Returns the hashes in a checksum document by file name, after verification. */
  checksums(document: ChecksumDocument): Promise<Checksums>;
  /**
   * Returns sizes in bytes by file name, from the comments of a checksum document ("# name: 123 bytes"). Returns an
   * empty map after the faults `gone`, `refused`, `unreadable` and `not_recorded`.
   */
  sizes(document: ChecksumDocument): Promise<ReadonlyMap<string, number>>;
  /**
   * Runs `work` for an optional part of a release, such as another architecture. Returns null if the vendor does not
   * have the part (404 or 410). Also returns null, with a warning, if no response is recorded for the part, or if a
   * transient fault occurs in the final attempt of this run (gaps.ts). After such a transient fault, the core keeps the
   * images of the previous tree.
   */
  optional<T>(what: string, work: () => Promise<T>): Promise<T | null>;
  /**
   * Returns whether the vendor has a file. Used for optional files beside an image. If no response is recorded for the
   * file, returns false and notes a warning.
   */
  exists(url: string): Promise<boolean>;
  /**
   * Returns whether a cycle of this vendor's product has ended according to endoflife.date. Returns null for an unknown
   * cycle, or if the vendor has no such product.
   */
  ended(cycle: string): Promise<boolean | null>;
  warn(text: string): void;
};
export type DocumentOptions = {
  readonly accept?: string;
  readonly bytes_max?: number;
  readonly signature?: DocumentSignature;
  readonly series?: string;
  /** A signed document that is older than this number of days raises the alarm "frozen". */
  readonly stale_after_days?: number;
};
