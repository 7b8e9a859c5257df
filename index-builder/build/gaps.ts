// Handles faults in optional parts of a release: other architectures, other variants and older builds. The part counts
// as absent after a 404 or 410, or if no response is recorded for the part. After a transient fault, such as a timeout,
// the whole vendor is retried. If the last attempt also has a transient fault, the part becomes a gap: the vendor is
// published, and the images of the previous tree stay (kept-images.ts). The caller rethrows every other fault, because
// a change of format or a bad signature must not look like a removed image.
import { isFault, messageOf } from "../fault.ts";
import type { Notes } from "./report.ts";

export type Gaps = {
  /**
   * Returns whether the run continues without the part. Notes a gap if the run continues after a transient fault. If
   * the function returns false, the caller must rethrow the fault.
   */
  allows(what: string, error: unknown): boolean;
  /** Returns whether any skipped part may still exist at the vendor. */
  any(): boolean;
};

/** @param last_attempt true if the vendor is not retried in this run */
export function openGaps(notes: Notes, last_attempt: boolean): Gaps {
  let open = false;
  return {
    allows: (what, error) => {
      if (isFault(error, "gone")) return true;
      if (isFault(error, "not_recorded")) {
        notes.warn(`${what}: ${messageOf(error)}`);
        return true;
      }
      if (!last_attempt || !isFault(error, "transient")) return false;
      open = true;
      notes.warn(`${what}: skipped, and its images in the previous tree stay: ${messageOf(error)}`);
      return true;
    },
    any: () => open,
  };
}
