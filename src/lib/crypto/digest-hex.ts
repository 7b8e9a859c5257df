/** Number of hex characters of each digest that vendors publish. */
export const DIGEST_HEX_CHARS = { sha256: 64, sha512: 128 } as const;
export type DigestAlgorithm = keyof typeof DIGEST_HEX_CHARS;

/** Returns the hash in lower case; null if the text is not hex of the algorithm's length. */
export function asDigest(text: string, algorithm: DigestAlgorithm): string | null {
  return text.length === DIGEST_HEX_CHARS[algorithm] && /^[0-9a-fA-F]+$/.test(text) ? text.toLowerCase() : null;
}
