// Verifies OpenPGP signatures of vendor documents. A signature counts if it is valid and the vendor's module pins the
// primary fingerprint of its key. Other signatures are ignored. The functions return the bytes that the verifier read,
// never the bytes that they were called with. The library openpgp refuses MD5, RIPEMD and SHA-1, RSA keys below 2047
// bits, and signatures dated in the future.
import * as openpgp from "openpgp";
import { goodSignature } from "../../src/lib/openpgp/good-signature.ts";
import { readKeys, readSignature } from "../../src/lib/openpgp/read.ts";
import { messageOf, VendorFault } from "../fault.ts";
import { clearSignedText } from "../parse/clear-signed.ts";

export type Verified = { readonly bytes: Uint8Array; readonly signed_at: Date };
type Keys = readonly openpgp.PublicKey[];

/**
 * Returns the keys in `document` that have one of these fingerprints. One file may contain several primary keys.
 * @throws VendorFault untrusted if no key has one of these fingerprints, unreadable if the document has no key
 */
export async function pinnedKeys(what: string, document: Uint8Array, fingerprints: readonly string[]): Promise<Keys> {
  const keys = await readKeys(openpgp, document).catch((error) => {
    throw new VendorFault("unreadable", `${what}: ${messageOf(error)}`);
  });
  const pinned = keys.filter((key) => fingerprints.includes(key.getFingerprint().toUpperCase()));
  if (pinned.length === 0) throw new VendorFault("untrusted", `${what}: has none of the pinned keys`);
  return pinned;
}

/**
 * Verifies a detached signature.
 * @throws VendorFault untrusted
 */
export async function verifyDetached(
  input: { what: string; document: Uint8Array; signature: Uint8Array; keys: Keys; now: Date },
): Promise<Verified> {
  const { what, document, now } = input;
  return await refusing(what, async () => {
    const { data, signatures } = await openpgp.verify({
      message: await openpgp.createMessage({ binary: document }),
      signature: await readSignature(openpgp, input.signature),
      verificationKeys: [...input.keys],
      format: "binary",
      date: now,
    });
    const { signed_at } = await goodSignature({ signatures, keys: input.keys, now });
    return { bytes: new Uint8Array(data as Uint8Array), signed_at };
  });
}

/**
 * Verifies a clear-signed document.
 * @throws VendorFault untrusted if no signature counts or the document is not exactly one clear-signed text
 */
export async function verifyClearSigned(
  input: { what: string; document: Uint8Array; keys: Keys; now: Date },
): Promise<Verified> {
  const { what, now } = input;
  return await refusing(what, async () => {
    const document = utf8(what, input.document);
    const framed = clearSignedText(what, document);
    const message = await openpgp.readCleartextMessage({ cleartextMessage: document });
    const { data, signatures } = await openpgp.verify({ message, verificationKeys: [...input.keys], date: now });
    const { signed_at } = await goodSignature({ signatures, keys: input.keys, now });
    // Two parsers extract the signed text. If they disagree, an attacker may have deceived one of them.
    if (plain(data) !== plain(framed)) throw new Error("the document has text that the signature does not cover");
    return { bytes: new TextEncoder().encode(data), signed_at };
  });
}

async function refusing<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new VendorFault("untrusted", `${what}: signature refused: ${messageOf(error)}`);
  }
}

function plain(text: string): string {
  return text.split("\n").map((line) => line.trimEnd()).join("\n").trimEnd();
}

function utf8(what: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new VendorFault("unreadable", `${what}: is not UTF-8`);
  }
}
