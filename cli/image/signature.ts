// OpenPGP signatures of vendors. A signature is good when a key of the key document made it and that key is neither
// expired nor revoked. Which keys count is the caller's: pinned ones where fingerprints are known. openpgp itself refuses
// MD5, SHA-1 and short RSA keys.
import { Buffer } from "node:buffer";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import type { Key, PublicKey, VerifyMessageResult } from "openpgp";
import { armoredBlocks } from "../../src/lib/openpgp/armor.ts";
import { goodSignature } from "../../src/lib/openpgp/good-signature.ts";
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";

export type Keys = readonly PublicKey[];
export type Good = { readonly fingerprint: string; readonly signed_at: string };
/** What a clear-signed document says is what its verifier read, never the document around it. */
export type GoodText = Good & { readonly text: string };

/** @param fingerprints of primary keys, upper case; null to take every key of the document */
export async function readKeys(
  where: string,
  document: Uint8Array,
  fingerprints: readonly string[] | null,
): Promise<Keys> {
  const { readKeys } = await import("openpgp");
  const keys: Key[] = await refusing(`${where} holds no OpenPGP key`, async () => {
    const blocks = armoredBlocks(document, "PGP PUBLIC KEY BLOCK");
    if (blocks === null) return await readKeys({ binaryKeys: document });
    return (await Promise.all(blocks.map((armoredKeys) => readKeys({ armoredKeys })))).flat();
  });
  const counted = fingerprints === null ? keys : keys.filter((key) => fingerprints.includes(fingerprintOf(key)));
  if (counted.length > 0) return counted;
  const there = keys.map(fingerprintOf).join(", ") || "none";
  throw new Failure(
    `${where} does not hold the key ${fingerprints?.join(", ") ?? ""}; it holds ${there}`,
    EXIT.failure,
  );
}

/** A signature apart from the bytes it covers: a document, or a file that is read as it is verified. */
export async function verifyDetached(
  what: string,
  { content, signature, keys }: { content: Uint8Array | { path: string }; signature: Uint8Array; keys: Keys },
): Promise<Good> {
  const openpgp = await import("openpgp");
  return await refusing(`${what}: signature refused`, async () => {
    const blocks = armoredBlocks(signature, "PGP SIGNATURE");
    if (blocks !== null && blocks.length !== 1) throw new Error("more than one signature block");
    const made = blocks === null
      ? await openpgp.readSignature({ binarySignature: signature })
      : await openpgp.readSignature({ armoredSignature: blocks[0]! });
    const common = { signature: made, verificationKeys: [...keys] };
    if (content instanceof Uint8Array) {
      const message = await openpgp.createMessage({ binary: content });
      return await goodOf((await openpgp.verify({ ...common, message, format: "binary" })).signatures, keys);
    }
    const binary = Readable.toWeb(createReadStream(content.path)) as ReadableStream<Uint8Array>;
    const message = await openpgp.createMessage({ binary });
    const result = await openpgp.verify({ ...common, message, format: "binary" });
    // Nothing is verified before the last byte was read. By a reader: openpgp has replaced that method of the stream only.
    const reader = (result.data as unknown as ReadableStream<Uint8Array>).getReader();
    while (!(await reader.read()).done);
    return await goodOf(result.signatures, keys);
  });
}

export async function verifyClearSigned(what: string, document: Uint8Array, keys: Keys): Promise<GoodText> {
  const openpgp = await import("openpgp");
  return await refusing(`${what}: signature refused`, async () => {
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

async function refusing<T>(argv: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Failure(`${argv}: ${error instanceof Error ? error.message : String(error)}`, EXIT.failure);
  }
}

export function fingerprintOf(key: Key): string {
  return key.getFingerprint().toUpperCase();
}
