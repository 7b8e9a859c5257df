// Platform image stamps. A stamp becomes part of a path and of a boot script.
import { STAMP_CHARS_MAX } from "../../contract/limits.ts";

/** Document 4, Fixed here, Staged platform images. */
export function isStamp(text: string): boolean {
  return text.length <= STAMP_CHARS_MAX && /^[A-Za-z0-9._-]+$/.test(text) && !text.includes("..");
}
