// Creates and parses claim codes. A claim code has six characters of Crockford base32 and is shown as XXX-XXX
// (docs/nodes.md, "The claim-code path").
import { CLAIM_CODE_CHARS } from "../../contract/limits.ts";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The text of the 400 for a malformed claim code. */
export const CLAIM_CODE_MESSAGE = "claim code must be 6 chars of Crockford base32 (XXX-XXX accepted)";

/**
 * Creates a code of 30 bits from random bytes. The low five bits of each byte choose a character; 32 divides 256, so
 * all characters are equally likely.
 * @param bytes at least six random bytes; more are ignored
 * @returns six characters, without the hyphen
 * @throws RangeError on fewer bytes
 */
export function claimCodeFromBytes(bytes: Uint8Array): string {
  if (bytes.length < CLAIM_CODE_CHARS) throw new RangeError(`a claim code needs ${CLAIM_CODE_CHARS} random bytes`);
  return Array.from(bytes.subarray(0, CLAIM_CODE_CHARS), (byte) => ALPHABET[byte & 31]).join("");
}

/**
 * Parses a code that a person typed: removes white space and hyphens, and converts it to upper case. Rejects O, I, L
 * and U. To replace them with digits would be a guess, and a wrong guess uses up an attempt.
 * @returns the six characters, or null (answer 400 with CLAIM_CODE_MESSAGE)
 */
export function parseClaimCode(input: string): string | null {
  const code = input.replace(/[\s-]/g, "").toUpperCase();
  return code.length === CLAIM_CODE_CHARS && /^[0-9A-HJKMNP-TV-Z]+$/.test(code) ? code : null;
}

/** Formats XXXXXX as XXX-XXX, which is easier to read and type. */
export function formatClaimCode(code: string): string {
  return `${code.slice(0, 3)}-${code.slice(3)}`;
}
