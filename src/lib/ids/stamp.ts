// Checks the stamps that identify platform images. A stamp is inserted into a path and a boot script.
import { STAMP_CHARS_MAX } from "../../contract/limits.ts";

/** Returns whether a text is safe in a path and in a boot script (docs/booting.md). */
export function isStamp(text: string): boolean {
  return text.length <= STAMP_CHARS_MAX && /^[A-Za-z0-9._-]+$/.test(text) && !text.includes("..");
}
