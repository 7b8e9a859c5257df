// Claim codes: six characters of Crockford base32, shown as XXX-XXX. docs/nodes.md, "The claim-code path".
import { CLAIM_CODE_CHARS } from "../../contract/limits.ts";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The text of the 400 for a malformed claim code. */
export const CLAIM_CODE_MESSAGE = "claim code must be 6 chars of Crockford base32 (XXX-XXX accepted)";

/**
 * Creates a code of 30 bits from random bytes. 32 divides 256, so the low five bits of a byte choose each character with
 * the same probability.
 * @param bytes at least six random bytes; more are ignored
 * @returns six characters, without the hyphen
 * @throws RangeError on fewer bytes
 */
export function claimCodeFromBytes(bytes: Uint8Array): string {
  if (bytes.length < CLAIM_CODE_CHARS) throw new RangeError(`a claim code needs ${CLAIM_CODE_CHARS} random bytes`);
  return Array.from(bytes.subarray(0, CLAIM_CODE_CHARS), (byte) => ALPHABET[byte & 31]).join("");
}

/**
 * Parses a typed code: removes white space and hyphens, converts to upper case. O, I, L and U are errors instead of being
 * mapped, because a wrong guess would use up an attempt.
 * @returns the six characters, or null (answer 400 with CLAIM_CODE_MESSAGE)
 */
export function parseClaimCode(input: string): string | null {
  const code = input.replace(/[\s-]/g, "").toUpperCase();
  return code.length === CLAIM_CODE_CHARS && /^[0-9A-HJKMNP-TV-Z]+$/.test(code) ? code : null;
}

/** Formats XXXXXX as XXX-XXX, for people. */
export function formatClaimCode(code: string): string {
  return `${code.slice(0, 3)}-${code.slice(3)}`;
}
