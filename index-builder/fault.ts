// Defines the error for a vendor's response that cannot be used. The kind of the error decides the next step: leave out
// one image, retry the vendor, or keep the vendor's last good files (see the table in README.md).

export type FaultKind =
  /** The vendor does not have the document (404 or 410), or has no image of a new release yet. */
  | "gone"
  /** No response, a timeout, a TLS failure, 429 or 5xx: a retry may help. */
  | "transient"
  /** Any other status: a retry does not help. */
  | "refused"
  /** The body does not have the expected format. The vendor may have changed the format. */
  | "unreadable"
  /** The URL, the redirect or the size is not allowed. */
  | "unsafe"
  /** The build uses recorded responses, which do not contain this URL. */
  | "not_recorded"
  /**
   * The data about one build contradict each other. The builder does not add such a build to the archive. A release
   * keeps its last state if the fault concerns the default image of a current build, or if bytes changed under a known
   * build id. Otherwise the builder leaves out only the image.
   */
  | "held"
  /**
   * A key or signature is bad, a signature has disappeared, a document is older than the last accepted one, or a
   * checksum document has two different hashes of one file.
   */
  | "untrusted"
  /**
   * Signatures are required, but no key is pinned for this signature. Treated like `held`, but raises no alarm in an
   * archive.
   */
  | "unverifiable";

export class VendorFault extends Error {
  /** @param status HTTP status of the response; null if no response came */
  constructor(readonly kind: FaultKind, message: string, readonly status: number | null = null) {
    super(message);
    this.name = "VendorFault";
  }
}

export function isFault(error: unknown, ...kinds: readonly FaultKind[]): error is VendorFault {
  return error instanceof VendorFault && (kinds.length === 0 || kinds.includes(error.kind));
}

export function unreadable(what: string, why: string): VendorFault {
  return new VendorFault("unreadable", `${what}: ${why}`);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
