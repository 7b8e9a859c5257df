/** Hex characters of the digests that vendors publish (document 1, DigestAlgorithm). */
export const DIGEST_HEX_CHARS = { sha256: 64, sha512: 128 } as const;
export type DigestAlgorithm = keyof typeof DIGEST_HEX_CHARS;

/** The hash in lower case, or null when it is not hex of the length of its algorithm. */
export function asDigest(text: string, algorithm: DigestAlgorithm): string | null {
  return text.length === DIGEST_HEX_CHARS[algorithm] && /^[0-9a-fA-F]+$/.test(text) ? text.toLowerCase() : null;
}
