// Computes the sha512-crypt password hash of Unix systems (`$6$`), always with the default of 5,000 rounds. Hashes that
// set their own number of rounds are rejected, because checking a password against such a hash could take a machine
// hours (docs/reliability.md, S-20).
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { CRYPT_PASSWORD_BYTES_MAX, CRYPT_ROUNDS, CRYPT_SALT_CHARS_MAX } from "../../contract/limits.ts";

const ALPHABET = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const DIGEST_BYTES = 64;

/**
 * Returns whether a hash may be stored: `$6$salt$hash`, with a salt of 1 to 16 characters and a hash of 86 characters,
 * all of ./0-9A-Za-z.
 */
export function isSha512Crypt(hash: string): boolean {
  // 64 bytes encode as 85 characters and two more bits, so the last character is one of four.
  return /^\$6\$[./0-9A-Za-z]{1,16}\$[./0-9A-Za-z]{85}[./01]$/.test(hash);
}

/**
 * Returns the text of a 400 for a password that cannot be hashed, or null. A NUL is rejected because crypt(3) ignores
 * everything after it.
 */
export function cryptPasswordError(password: string): string | null {
  const bytes = Buffer.byteLength(password);
  if (bytes >= 1 && bytes <= CRYPT_PASSWORD_BYTES_MAX && !password.includes("\0")) return null;
  return `password must be 1 to ${CRYPT_PASSWORD_BYTES_MAX} bytes of UTF-8 without NUL`;
}

/**
 * Returns a salt of 16 characters. The low six bits of each byte choose a character, so all 64 characters are equally
 * likely.
 * @throws RangeError if `bytes` has fewer than 16 bytes; further bytes are ignored
 */
export function saltFromBytes(bytes: Uint8Array): string {
  if (bytes.length < CRYPT_SALT_CHARS_MAX) throw new RangeError(`a salt needs ${CRYPT_SALT_CHARS_MAX} random bytes`);
  return Array.from(bytes.subarray(0, CRYPT_SALT_CHARS_MAX), (byte) => ALPHABET[byte & 63]).join("");
}

/**
 * Hashes a password, as crypt(3) does with `$6$salt$`. Blocks the process for about 50 ms, so call it rarely.
 * @param password a password for which `cryptPasswordError` returns null
 * @param salt 1 to 16 characters of ./0-9A-Za-z
 * @throws RangeError if the password or the salt is invalid
 */
export function sha512Crypt(password: string, salt: string): string {
  const refused = cryptPasswordError(password);
  if (refused !== null) throw new RangeError(refused);
  if (!/^[./0-9A-Za-z]{1,16}$/.test(salt)) throw new RangeError("salt must be 1 to 16 characters of ./0-9A-Za-z");
  const key = Buffer.from(password);
  const saltBytes = Buffer.from(salt);

  const inner = sha512(key, saltBytes, key);
  const start = [key, saltBytes, stretched(inner, key.length)];
  for (let bits = key.length; bits > 0; bits >>= 1) start.push(bits & 1 ? inner : key);
  let digest = sha512(...start);

  const keyPart = stretched(sha512(...Array<Buffer>(key.length).fill(key)), key.length);
  const saltPart = stretched(sha512(...Array<Buffer>(16 + digest[0]!).fill(saltBytes)), saltBytes.length);
  for (let round = 0; round < CRYPT_ROUNDS; round++) {
    const odd = round % 2 === 1;
    const parts = [odd ? keyPart : digest];
    if (round % 3 !== 0) parts.push(saltPart);
    if (round % 7 !== 0) parts.push(keyPart);
    parts.push(odd ? digest : keyPart);
    digest = sha512(...parts);
  }
  return `$6$${salt}$${encoded(digest)}`;
}

function sha512(...parts: Buffer[]): Buffer {
  return createHash("sha512").update(Buffer.concat(parts)).digest();
}

/** Repeats the bytes until they fill a length. */
function stretched(bytes: Buffer, length: number): Buffer {
  return Buffer.alloc(length, bytes);
}

/**
 * Encodes a digest: each triple of bytes becomes four characters, least significant six bits first. The first 63 bytes
 * form three columns of 21 bytes, and a triple has one byte of each column.
 */
function encoded(digest: Buffer): string {
  const COLUMN = 21;
  let text = "";
  for (let row = 0; row < COLUMN; row++) {
    const column = [row, row + COLUMN, row + 2 * COLUMN];
    const [a, b, c] = [0, 1, 2].map((place) => digest[column[(place + row) % 3]!]!);
    text += characters((a! << 16) | (b! << 8) | c!, 4);
  }
  return text + characters(digest[DIGEST_BYTES - 1]!, 2);
}

function characters(value: number, count: number): string {
  return Array.from({ length: count }, (_, place) => ALPHABET[(value >> (6 * place)) & 63]).join("");
}
