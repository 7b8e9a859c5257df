// Defines the retry policy and the classes of faults.
import { isFault, type VendorFault } from "../fault.ts";

export const ATTEMPTS = 3;
export const ATTEMPT_WAIT_MS = 20_000;

/**
 * Returns whether the vendor or the recording does not have the document. The builder then leaves out only the release,
 * build or image that needs the document.
 */
export function isAbsent(error: unknown): error is VendorFault {
  return isFault(error, "gone", "not_recorded");
}

/** Returns whether the response is unusable but the document may exist. The builder then keeps the previous value. */
export function isUnusable(error: unknown): error is VendorFault {
  return isFault(error, "refused", "unreadable");
}
