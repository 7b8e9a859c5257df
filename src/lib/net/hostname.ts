// Host names: one RFC 1123 label. They are written into boot scripts and configuration files, so no other text may pass.
import { HOSTNAME_CHARS_MAX } from "../../contract/limits.ts";

/** Whether a text is a host name. Letter case is kept when it is stored. */
export function isHostname(text: string): boolean {
  return text.length <= HOSTNAME_CHARS_MAX && /^[A-Za-z0-9-]+$/.test(text) && !text.startsWith("-") &&
    !text.endsWith("-");
}
