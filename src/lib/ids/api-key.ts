// Formats and parses API keys. They have the form opsk_LOOKUP_SECRET. Both parts are base64url, whose alphabet includes
// the underscore. Therefore a key is parsed by position and not split at underscores (docs/wire.md, "Credentials").
import { KEY_LOOKUP_CHARS, KEY_SECRET_CHARS } from "../../contract/limits.ts";

const PREFIX = "opsk_";
const LOOKUP = new RegExp(`^[A-Za-z0-9_-]{${KEY_LOOKUP_CHARS}}$`);
const SECRET = new RegExp(`^[A-Za-z0-9_-]{${KEY_SECRET_CHARS}}$`);
const SECRET_AT = PREFIX.length + KEY_LOOKUP_CHARS + 1;

/** The form of a key, for error texts. */
export const API_KEY_FORM = "opsk_<12 characters>_<32 characters>, each of A-Z a-z 0-9 _ -";

/** The two parts of a key, described at formatApiKey. */
export type ApiKeyParts = { readonly lookup: string; readonly secret: string };

/**
 * @param lookup 12 base64url characters, stored unhashed
 * @param secret 32 base64url characters, of which only a hash is stored
 * @throws RangeError when a part has another form
 */
export function formatApiKey(lookup: string, secret: string): string {
  if (!LOOKUP.test(lookup) || !SECRET.test(secret)) throw new RangeError(`an API key is ${API_KEY_FORM}`);
  return `${PREFIX}${lookup}_${secret}`;
}

/** Returns the two parts of a well-formed key, or null. Does not check that the key exists. */
export function parseApiKey(text: string): ApiKeyParts | null {
  const lookup = text.slice(PREFIX.length, SECRET_AT - 1);
  const secret = text.slice(SECRET_AT);
  const wellFormed = text.startsWith(PREFIX) && text[SECRET_AT - 1] === "_" && LOOKUP.test(lookup) &&
    SECRET.test(secret);
  return wellFormed ? { lookup, secret } : null;
}
