// Host names: one RFC 1123 label. They end up in boot scripts and configuration files, so nothing else may pass.
import { HOSTNAME_CHARS_MAX } from "../../contract/limits.ts";

/** Document 2, Setup approval request: hostname. Letter case is kept by whoever stores it. */
export function isHostname(text: string): boolean {
  return text.length <= HOSTNAME_CHARS_MAX && /^[A-Za-z0-9-]+$/.test(text) && !text.startsWith("-") &&
    !text.endsWith("-");
}
