// Defines the retry policy and the classes of faults.
import { isFault, type VendorFault } from "../fault.ts";

export const ATTEMPTS = 3;
export const ATTEMPT_WAIT_MS = 20_000;

/**
 * Returns whether the fault leaves out only one release, because the vendor or the recording does not have the
 * document.
 */
export function isAbsent(error: unknown): error is VendorFault {
  return isFault(error, "gone", "not_recorded");
}

/** Returns whether the document exists but cannot be used, so that the value of the previous tree is kept. */
export function isUnusable(error: unknown): error is VendorFault {
  return isFault(error, "refused", "unreadable");
}
