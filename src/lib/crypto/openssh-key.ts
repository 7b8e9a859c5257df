// Parses OpenSSH public keys: one line with a type, a blob in base64 and a comment. The line is later written into
// files that grant access, so every byte of a key is checked before it is accepted.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { OPENSSH_KEY_CHARS_MAX, RSA_BITS_MAX, RSA_BITS_MIN } from "../../contract/limits.ts";

/**
 * `fingerprint` is "SHA256:" followed by unpadded base64, as ssh-keygen prints it. `line` is the text to store, without
 * a line break.
 */
export type OpensshKey = {
  readonly type: string;
  readonly fingerprint: string;
  readonly comment: string;
  readonly line: string;
};
type Refused = { readonly error: string };

/** The checks by key type: one check for each field that follows the type in the blob. Further fields are rejected. */
const FIELDS: { readonly [type: string]: readonly ((field: Buffer) => string | null)[] } = {
  "ssh-ed25519": [ed25519],
  "ecdsa-sha2-nistp256": [curve("nistp256"), point(32)],
  "ecdsa-sha2-nistp384": [curve("nistp384"), point(48)],
  "ecdsa-sha2-nistp521": [curve("nistp521"), point(66)],
  "ssh-rsa": [rsaExponent, rsaModulus],
  "sk-ssh-ed25519@openssh.com": [ed25519, application],
  "sk-ecdsa-sha2-nistp256@openssh.com": [curve("nistp256"), point(32), application],
};

/**
 * Parses one key. Removes surrounding white space; rejects options before the type.
 * @returns the key, or the reason why it is invalid; callers put "invalid openssh public key: " before the reason
 */
export function parseOpensshKey(text: string): OpensshKey | Refused {
  if (text.length > OPENSSH_KEY_CHARS_MAX) return { error: `it is longer than ${OPENSSH_KEY_CHARS_MAX} characters` };
  const line = text.trim();
  if (/\p{Cc}|[\u2028\u2029]/u.test(line)) return { error: "it must be one line without control characters" };
  const [type = "", base64 = "", ...comment] = line.split(" ");
  if (!Object.hasOwn(FIELDS, type)) return { error: `the type must be one of ${Object.keys(FIELDS).join(", ")}` };
  const blob = Buffer.from(base64, "base64");
  if (base64 === "" || blob.toString("base64") !== base64) return { error: "the second word is not base64" };
  const fields = fieldsOf(blob);
  if (fields === null) return { error: "the lengths inside the key do not add up" };
  const error = fieldsError(type, fields);
  if (error !== null) return { error };
  const fingerprint = `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/(?<!=)=+$/, "")}`;
  return { type, fingerprint, comment: comment.join(" ").trim(), line };
}

/**
 * Splits a blob into its fields. Each field is a length in 4 bytes, followed by the content. Returns null unless the
 * last field ends at the end of the blob.
 */
function fieldsOf(blob: Buffer): Buffer[] | null {
  const fields: Buffer[] = [];
  for (let at = 0; at < blob.length;) {
    if (blob.length - at < 4) return null;
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return null;
    fields.push(blob.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

function fieldsError(type: string, [named, ...rest]: Buffer[]): string | null {
  const expected = FIELDS[type]!;
  if (named === undefined || named.toString("latin1") !== type) {
    return "the type inside the key differs from the type before it";
  }
  if (rest.length !== expected.length) return `a key of this type has ${expected.length + 1} fields`;
  for (const [index, check] of expected.entries()) {
    const error = check(rest[index]!);
    if (error !== null) return error;
  }
  return null;
}

function ed25519(field: Buffer): string | null {
  return field.length === 32 ? null : "an Ed25519 key has 32 bytes";
}

function curve(name: string): (field: Buffer) => string | null {
  return (field) => field.toString("latin1") === name ? null : `the curve inside the key is not ${name}`;
}

/** Returns a check for an uncompressed point: the byte 4, then two coordinates. OpenSSH accepts no other form. */
function point(coordinateBytes: number): (field: Buffer) => string | null {
  return (field) =>
    field.length === 1 + 2 * coordinateBytes && field[0] === 4 ? null : "the point is not of this curve's size";
}

function application(field: Buffer): string | null {
  return /^[\x21-\x7e]{1,256}$/.test(field.toString("latin1")) ? null : "the application is not printable text";
}

function rsaExponent(field: Buffer): string | null {
  const odd = isPositive(field) && (field.at(-1)! & 1) === 1;
  return odd && field.length <= 8 && !(field.length === 1 && field[0] === 1) ? null : "the RSA exponent is not usable";
}

function rsaModulus(field: Buffer): string | null {
  if (!isPositive(field) || (field.at(-1)! & 1) === 0) return "the RSA modulus is not usable";
  const top = field[0] === 0 ? 1 : 0;
  const bits = (field.length - top) * 8 - (Math.clz32(field[top]!) - 24);
  if (bits < RSA_BITS_MIN) return `an RSA key needs at least ${RSA_BITS_MIN} bits`;
  return bits <= RSA_BITS_MAX ? null : `an RSA key has at most ${RSA_BITS_MAX} bits`;
}

/**
 * Returns whether a field is a positive number in canonical form. In this form, a leading zero byte is present only if
 * the next byte has its top bit set.
 */
function isPositive(field: Buffer): boolean {
  if (field.length === 0 || field[0]! >= 0x80) return false;
  return field[0] !== 0 || (field.length > 1 && field[1]! >= 0x80);
}
