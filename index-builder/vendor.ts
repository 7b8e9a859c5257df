// What one vendor's file says, and what it is given. A vendor's file finds releases, builds and addresses; it never decides
// what is published. The core reads every checksum document, verifies signatures, asks for every image's head, gives out
// aliases and keeps what was there before (build/).
import type { z } from "zod";
import type { Checksums, ListFormat } from "./parse/checksums.ts";
import type { Compression, DigestAlgorithm, Firmware, ImageFormat, OsFamily } from "./tree/enums.ts";

export type Vendor = {
  /** Short name, also the directory name. */
  readonly id: string;
  readonly name: string;
  readonly homepage: string;
  readonly os_family: OsFamily;
  /** The only hosts this vendor's requests may start at. Redirects may lead to any public host, since mirrors change. */
  readonly hosts: readonly string[];
  /** Those of `hosts` that have no https. */
  readonly plain_http_hosts?: readonly string[];
  /** Product of endoflife.date whose ended cycles are left out, or null. */
  readonly end_of_life_product: string | null;
  /** Newest first. Also the candidates that are not supported: the core leaves those out. */
  readonly list: (visit: Visit) => Promise<readonly Candidate[]>;
};

/** A release that may be published. For a channel, `id`, `version` and `title` come from what it resolves to. */
export type Candidate = {
  /** Release id, or the channel's name. Letters, digits, . _ - only; checked before `resolve` runs. */
  readonly token: string;
  readonly version: string | null;
  readonly title: string | null;
  readonly supported: boolean;
  readonly eol_date: string | null;
  /** Whether the vendor itself says long-term support. */
  readonly lts: boolean;
  /** The vendor's label of a pre-release or development channel ("Beta", "bloody"), or null. */
  readonly dev: string | null;
  readonly channel: boolean;
  readonly resolve: () => Promise<Resolved>;
};

export type Resolved = {
  /** Required for a channel: the release it stands at. Also replaces version or title that are known only now. */
  readonly release?: { readonly id: string; readonly version: string | null; readonly title: string };
  /** Current builds, newest first; at least one. Most vendors have one: the newest. */
  readonly builds: readonly BuildDraft[];
  /**
   * Final builds of ended point releases, in a vault. Not resolved again once they are in the tree, so the visit it is
   * given leaves no gaps: an archived build is whole or comes another day. No fault of a vault is the vendor's.
   */
  readonly archive?: (visit: Visit) => Promise<readonly ArchiveCandidate[]>;
};
export type ArchiveCandidate = {
  /** The point release that ended; one archived build is kept for each. */
  readonly point_release: string;
  /** Null when the vault has nothing that counts. */
  readonly resolve: () => Promise<BuildDraft | null>;
};

export type BuildDraft = {
  readonly build: string;
  readonly point_release: string | null;
  /** RFC 3339, only when the vendor says so. */
  readonly published_at?: string | null;
  /** The default artifact first: where it is gone, the release is left out. */
  readonly artifacts: readonly ArtifactDraft[];
};

export type ArtifactDraft = {
  readonly url: string;
  readonly variant: string | null;
  readonly default_variant: boolean;
  /** osinfo name: x86_64, aarch64, armv7l, ppc64le, riscv64, s390x (arch.ts). */
  readonly arch: string;
  readonly format: ImageFormat;
  readonly compression: Compression;
  /** Only what the vendor says or the name shows; nothing when unknown. */
  readonly firmware?: readonly Firmware[];
  readonly datasources?: readonly string[];
  readonly ssh_key_injection?: boolean | null;
  /** As a vendor document says; must agree with the length the server gives. */
  readonly size?: number | null;
  readonly checksum: Checksum | null;
  /** A signature over the image itself. It is published, not verified: that needs the image. */
  readonly signature?: DetachedSignature | null;
};

/** Where the hash of an image stands. */
export type Checksum =
  | {
    readonly document: ChecksumDocument;
    /** As the document spells it; null for bare. */
    readonly filename: string | null;
    /** The same hash from another document of the vendor. Where the two differ, nothing is published. */
    readonly expect?: string | null;
    /** The format the index publishes where it is not the one it is read by. */
    readonly published_format?: "bare";
  }
  | { readonly vendor_document: string; readonly algorithm: DigestAlgorithm; readonly value: string };

export type ChecksumDocument = {
  readonly url: string;
  readonly format: ListFormat;
  readonly algorithm: DigestAlgorithm;
  readonly signature: DocumentSignature | null;
  /**
   * What this document is the next issue of, where every issue has its own address ("noble amd64 SHA256SUMS"). An issue
   * signed before the last one that was accepted is a rollback, so no two documents of one run share a series: an
   * architecture that lags has its own. The address where absent.
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
  /** `twin` is the clear-signed copy where the document itself is not signed; the twin's text then takes its place. */
  | { readonly kind: "pgp_clearsigned"; readonly twin?: string; readonly key: SigningKey | null };

export type SigningKey = {
  readonly key_url: string;
  /** Full fingerprints, 40 or 64 hex digits in upper case, of primary keys. Never empty: an unpinned key proves nothing. */
  readonly fingerprints: readonly string[];
};

/** What a vendor's file is given. Every method throws a VendorFault; let it pass, the core knows what to do with it. */
export type Visit = {
  readonly now: Date;
  /** YYYY-MM-DD in UTC. */
  readonly today: string;
  text(url: string, options?: DocumentOptions): Promise<string>;
  json<T>(url: string, shape: z.ZodType<T>, options?: DocumentOptions): Promise<T>;
  /** Names in a directory listing: "10/", "image.qcow2". */
  listing(url: string): Promise<readonly string[]>;
  /** Name to hash, from verified bytes. */
  checksums(document: ChecksumDocument): Promise<Checksums>;
  /**
   * The sizes in a checksum document's comments ("# name: 123 bytes"), from the same verified bytes; none where the
   * document cannot be used.
   */
  sizes(document: ChecksumDocument): Promise<ReadonlyMap<string, number>>;
  /**
   * Runs `work` for something a release can do without (another architecture). Null where the vendor has it not (404),
   * and with a warning where a recorded web lacks it or no attempt brought an answer; the core then keeps what the tree
   * before lists.
   */
  optional<T>(what: string, work: () => Promise<T>): Promise<T | null>;
  /** Whether the vendor has a file: for a sidecar that only some have. */
  exists(url: string): Promise<boolean>;
  /** Whether endoflife.date says that a cycle of this vendor's product has ended; null when it lists no such cycle. */
  ended(cycle: string): Promise<boolean | null>;
  warn(text: string): void;
};
export type DocumentOptions = {
  readonly accept?: string;
  readonly bytes_max?: number;
  readonly signature?: DocumentSignature;
  readonly series?: string;
  /** Days after which a signed document that has not been renewed raises the alarm "frozen". */
  readonly stale_after_days?: number;
};
