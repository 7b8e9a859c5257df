import { DIGEST_HEX_CHARS, type DigestAlgorithm } from "../tree/enums.ts";

/** The hash in lower case, or null when it is not hex of the length of its algorithm. */
export function asDigest(text: string, algorithm: DigestAlgorithm): string | null {
  return text.length === DIGEST_HEX_CHARS[algorithm] && /^[0-9a-fA-F]+$/.test(text) ? text.toLowerCase() : null;
}
