// Checks host names, which are one RFC 1123 label. They are written into boot scripts and configuration files, so any
// other text is rejected.
import { HOSTNAME_CHARS_MAX } from "../../contract/limits.ts";

/** Returns whether a text is a host name. Both letter cases are allowed. */
export function isHostname(text: string): boolean {
  return text.length <= HOSTNAME_CHARS_MAX && /^[A-Za-z0-9-]+$/.test(text) && !text.startsWith("-") &&
    !text.endsWith("-");
}
