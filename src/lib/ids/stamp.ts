// Stamps of platform images. A stamp becomes part of a path and of a boot script.
import { STAMP_CHARS_MAX } from "../../contract/limits.ts";

/** Whether a text is safe in both. docs/booting.md. */
export function isStamp(text: string): boolean {
  return text.length <= STAMP_CHARS_MAX && /^[A-Za-z0-9._-]+$/.test(text) && !text.includes("..");
}
