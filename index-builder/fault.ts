// Why a vendor's answer cannot be used. The kind decides what happens next (build/policy.ts): one image left out, the
// vendor tried again, or the vendor's last good files kept.

export type FaultKind =
  /** 404 or 410: the vendor says it is not there. */
  | "gone"
  /** No answer, a timeout, TLS, 429 or 5xx: another try may help. */
  | "transient"
  /** Any other 4xx or an answer to a request nobody made: trying again does not help. */
  | "refused"
  /** The answer does not read as what it should be: this is how a change of format shows. */
  | "unreadable"
  /** An address, a redirect or an amount of bytes that this program does not accept. */
  | "unsafe"
  /** A recorded web has no such address. */
  | "not_recorded"
  /** One build is in doubt: its release stays as it was, or without that image where it is not the default one. */
  | "held"
  /** A signature, a rollback or two documents that contradict each other. */
  | "untrusted"
  /** Signatures are required, and which key must have made this one is not known: treated like `held`. */
  | "unverifiable";

export class VendorFault extends Error {
  /** @param status of the answer, where one came */
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
