// What a release can do without: other architectures and variants, older builds. Where the vendor says that it has none
// (404), there is none. Where no usable answer comes the whole vendor is tried again, and after the last attempt there is
// a gap: the vendor is published, and what the tree before lists stays (kept-images.ts). Every other fault is a failure:
// a change of format or a bad signature must not pass for an image that has gone.
import { isFault, messageOf } from "../fault.ts";
import type { Notes } from "./report.ts";

export type Gaps = {
  /** Whether the run goes on without it; why was noted. Where not, the fault must be thrown on. */
  allows(what: string, error: unknown): boolean;
  /** Whether something was passed over that the vendor may have. */
  any(): boolean;
};

/** @param last_attempt whether the vendor will not be tried again in this run */
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
      notes.warn(`${what}: passed over, what was listed before stays: ${messageOf(error)}`);
      return true;
    },
    any: () => open,
  };
}
