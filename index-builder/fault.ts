// Why a vendor's response cannot be used. The kind decides the next step: leave out one image, retry the vendor, or
// keep the vendor's last good files (README.md has the table).

export type FaultKind =
  /** 404 or 410: the vendor does not have it. */
  | "gone"
  /** No response, a timeout, a TLS failure, 429 or 5xx: a retry may help. */
  | "transient"
  /** Any other status: a retry does not help. */
  | "refused"
  /** The body does not have the expected format. The vendor may have changed it. */
  | "unreadable"
  /** An address, a redirect or a size that this program does not accept. */
  | "unsafe"
  /** The recorded responses do not have this address. */
  | "not_recorded"
  /**
   * The data of one build contradict each other: keep the release's last state, or leave out an image other than the
   * default.
   */
  | "held"
  /** A bad signature, a rollback, or two documents that contradict each other. */
  | "untrusted"
  /** Signatures are required, and no key is pinned for this one. Treated like `held`. */
  | "unverifiable";

export class VendorFault extends Error {
  /** @param status of the response, or null without one */
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
