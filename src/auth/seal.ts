// Seals (encrypts) secrets that the server must read again: AES-256-GCM with one key per purpose. A sealed text opens
// only with the purpose and id that it was sealed for, so it cannot be moved to another row. Format 1: "s1.", then
// base64url of nonce (12 bytes), ciphertext and tag (16 bytes).
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** The purpose of a sealed or derived value, and the record that it belongs to. */
export type SealContext = { readonly purpose: string; readonly id: string };

const PREFIX = "s1.";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function seal(secret: Uint8Array, plaintext: string, context: SealContext): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", sealKey(secret, context.purpose), nonce);
  cipher.setAAD(label("sealed", context));
  const body = Buffer.concat([nonce, cipher.update(plaintext, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return PREFIX + body.toString("base64url");
}

/**
 * Opens a sealed text. Throws an Error when the text was changed, moved, or sealed with another secret. The Error is
 * the same in all three cases.
 */
export function open(secret: Uint8Array, sealed: string, context: SealContext): string {
  const body = Buffer.from(sealed.slice(PREFIX.length), "base64url");
  try {
    if (!sealed.startsWith(PREFIX) || body.length < NONCE_BYTES + TAG_BYTES) throw new RangeError("not a sealed text");
    const key = sealKey(secret, context.purpose);
    const options = { authTagLength: TAG_BYTES };
    const decipher = createDecipheriv("aes-256-gcm", key, body.subarray(0, NONCE_BYTES), options);
    decipher.setAAD(label("sealed", context));
    decipher.setAuthTag(body.subarray(-TAG_BYTES));
    const text = [decipher.update(body.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
    return Buffer.concat(text).toString("utf8");
  } catch (cause) {
    throw new Error(
      `cannot open the sealed ${context.purpose} of ${context.id}: was BERTH_SECRET_KEY changed?`,
      {
        cause,
      },
    );
  }
}

/** Derives bytes that depend only on the secret and the context, for values that need not be stored. */
export function derive(secret: Uint8Array, context: SealContext, bytes: number): Buffer {
  return hkdf(secret, label("derived", context), bytes);
}

function sealKey(secret: Uint8Array, purpose: string): Buffer {
  return hkdf(secret, label("seal-key", { purpose, id: "" }), KEY_BYTES);
}

function hkdf(secret: Uint8Array, info: Uint8Array, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, new Uint8Array(), info, bytes));
}

/** Encodes a context as JSON, so that different contexts never give the same label. */
function label(use: "sealed" | "derived" | "seal-key", { purpose, id }: SealContext): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(["berth", 1, use, purpose, id]));
}
