// How long and how often: image-vendors.md 1.4.
import { isFault, type VendorFault } from "../fault.ts";

export const ATTEMPTS = 3;
export const ATTEMPT_WAIT_MS = 20_000;

/** A release id or channel name that may become part of an address or a path. */
export function isToken(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,64}$/.test(text) && !text.includes("..") && text !== ".";
}

/** What leaves out one release: the vendor says it is not there, or a recorded web has it not. */
export function isAbsent(error: unknown): error is VendorFault {
  return isFault(error, "gone", "not_recorded");
}

/** What leaves a value as it was in the tree before: the document is there and cannot be used. */
export function isUnusable(error: unknown): error is VendorFault {
  return isFault(error, "refused", "unreadable");
}
