// Verifies OpenPGP signatures of vendors. A signature is good if a key of the key document made it and that key is
// neither expired nor revoked. The caller chooses the accepted keys, by fingerprint if the fingerprints are known.
// openpgp refuses MD5, SHA-1 and short RSA keys.
import { Buffer } from "node:buffer";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import type { Key, PublicKey, VerifyMessageResult } from "openpgp";
import { goodSignature } from "../../src/lib/openpgp/good-signature.ts";
import { readKeys as keysIn, readSignature } from "../../src/lib/openpgp/read.ts";
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";

export type Keys = readonly PublicKey[];
export type Good = { readonly fingerprint: string; readonly signed_at: string };
/** `text` is the signed text that the verifier read, without the rest of the document. */
export type GoodText = Good & { readonly text: string };

/**
 * Reads the keys of a document.
 * @param fingerprints fingerprints of the accepted primary keys, in upper case; null accepts every key
 */
export async function readKeys(
  where: string,
  document: Uint8Array,
  fingerprints: readonly string[] | null,
): Promise<Keys> {
  const openpgp = await import("openpgp");
  const keys = await refusing(`${where} has no OpenPGP key`, () => keysIn(openpgp, document));
  const counted = fingerprints === null ? keys : keys.filter((key) => fingerprints.includes(fingerprintOf(key)));
  if (counted.length > 0) return counted;
  const there = keys.map(fingerprintOf).join(", ") || "no key";
  throw new Failure(
    `${where} does not have the key ${fingerprints?.join(", ") ?? ""}; it has ${there}`,
    EXIT.failure,
  );
}

/** Verifies a detached signature over a document, or over a file, which is streamed. */
export async function verifyDetached(
  what: string,
  { content, signature, keys }: { content: Uint8Array | { path: string }; signature: Uint8Array; keys: Keys },
): Promise<Good> {
  const openpgp = await import("openpgp");
  return await refusing(`${what}: signature rejected`, async () => {
    const made = await readSignature(openpgp, signature);
    const common = { signature: made, verificationKeys: [...keys] };
    if (content instanceof Uint8Array) {
      const message = await openpgp.createMessage({ binary: content });
      return await goodOf((await openpgp.verify({ ...common, message, format: "binary" })).signatures, keys);
    }
    const binary = Readable.toWeb(createReadStream(content.path)) as ReadableStream<Uint8Array>;
    const message = await openpgp.createMessage({ binary });
    const result = await openpgp.verify({ ...common, message, format: "binary" });
    // openpgp verifies the signature after the last byte was read. It notices reads only if they use `getReader`.
    const reader = (result.data as ReadableStream<Uint8Array>).getReader();
    while (!(await reader.read()).done);
    return await goodOf(result.signatures, keys);
  });
}

export async function verifyClearSigned(what: string, document: Uint8Array, keys: Keys): Promise<GoodText> {
  const openpgp = await import("openpgp");
  return await refusing(`${what}: signature rejected`, async () => {
    const text = Buffer.from(document).toString("utf8");
    if (!text.startsWith("-----BEGIN PGP SIGNED MESSAGE-----")) throw new Error("not a clear-signed document");
    const message = await openpgp.readCleartextMessage({ cleartextMessage: text });
    const { data, signatures } = await openpgp.verify({ message, verificationKeys: [...keys] });
    return { ...await goodOf(signatures, keys), text: data };
  });
}

async function goodOf(signatures: VerifyMessageResult["signatures"], keys: Keys): Promise<Good> {
  const { key, signed_at } = await goodSignature({ signatures, keys, now: new Date() });
  return { fingerprint: fingerprintOf(key), signed_at: signed_at.toISOString() };
}

async function refusing<T>(problem: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Failure(`${problem}: ${error instanceof Error ? error.message : String(error)}`, EXIT.failure);
  }
}

export function fingerprintOf(key: Key): string {
  return key.getFingerprint().toUpperCase();
}
