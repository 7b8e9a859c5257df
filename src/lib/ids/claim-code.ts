// Claim codes: six characters of Crockford base32, shown as XXX-XXX. Document 2, Claim code; document 4, 1.2.
import { CLAIM_CODE_CHARS } from "../../contract/limits.ts";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Document 2, status 400: the exact text of a refused claim code. */
export const CLAIM_CODE_MESSAGE = "claim code must be 6 chars of Crockford base32 (XXX-XXX accepted)";

/**
 * Makes a code of 30 bits from random bytes. 32 divides 256, so the low five bits of a byte pick each character with
 * the same chance.
 * @param bytes at least six random bytes; further ones are ignored
 * @returns six characters, without the hyphen
 * @throws RangeError on fewer bytes
 */
export function claimCodeFromBytes(bytes: Uint8Array): string {
  if (bytes.length < CLAIM_CODE_CHARS) throw new RangeError(`a claim code needs ${CLAIM_CODE_CHARS} random bytes`);
  return Array.from(bytes.subarray(0, CLAIM_CODE_CHARS), (byte) => ALPHABET[byte & 31]).join("");
}

/**
 * Reads what a person typed: whitespace and hyphens dropped, letters raised. O, I, L and U stay errors: nothing is
 * mapped, because a wrong guess would spend an attempt.
 * @returns the six characters, or null (answer 400 with CLAIM_CODE_MESSAGE)
 */
export function parseClaimCode(input: string): string | null {
  const code = input.replace(/[\s-]/g, "").toUpperCase();
  return code.length === CLAIM_CODE_CHARS && /^[0-9A-HJKMNP-TV-Z]+$/.test(code) ? code : null;
}

/** XXXXXX as XXX-XXX, the form that people read. */
export function formatClaimCode(code: string): string {
  return `${code.slice(0, 3)}-${code.slice(3)}`;
}
