// Verifies the signed documents of a release: the channel.json of an install channel, and the manifest.json of a node
// image. Each has a detached signature, and lists files with their SHA-256 and size.
import { armoredBlocks } from "../../src/lib/openpgp/armor.ts";
import { asDigest } from "../../src/lib/crypto/digest-hex.ts";
import { goodSignature } from "../../src/lib/openpgp/good-signature.ts";

export type SignedFile = { readonly name: string; readonly sha256: string; readonly bytes: number };

export type SignedDocument = {
  readonly document: Uint8Array;
  readonly signature: Uint8Array;
  readonly key: Uint8Array;
  readonly now: Date;
};

const FILES_MAX = 64;
/** The largest file that a document may list. An executable has some 100 MB, and a node image some 300 MB. */
const SIGNED_FILE_BYTES_MAX = 1_073_741_824;

/**
 * Verifies the detached signature of a document, and returns when it was signed.
 * @throws Error if the signature is not good
 */
export async function signingTimeOf({ document, signature, key, now }: SignedDocument): Promise<Date> {
  const openpgp = await import("openpgp");
  const blocks = armoredBlocks(key, "PGP PUBLIC KEY BLOCK");
  const keys = blocks === null
    ? await openpgp.readKeys({ binaryKeys: key })
    : (await Promise.all(blocks.map((armoredKeys) => openpgp.readKeys({ armoredKeys })))).flat();
  const armored = armoredBlocks(signature, "PGP SIGNATURE");
  const { signatures } = await openpgp.verify({
    message: await openpgp.createMessage({ binary: document }),
    signature: armored === null
      ? await openpgp.readSignature({ binarySignature: signature })
      : await openpgp.readSignature({ armoredSignature: armored.join("\n") }),
    verificationKeys: keys,
    format: "binary",
    date: now,
  });
  return (await goodSignature({ signatures, keys, now })).signed_at;
}

/**
 * Parses the list `files` of a document.
 * @throws Error that names the broken rule, and the file if its hash or size is invalid
 */
export function signedFiles(files: unknown, name_form: RegExp): readonly SignedFile[] {
  if (!Array.isArray(files) || files.length > FILES_MAX) {
    throw new Error(`files must be a list of at most ${FILES_MAX} files`);
  }
  const read = files.map((each: unknown): SignedFile => {
    const { name, sha256, bytes } = (each ?? {}) as Record<string, unknown>;
    const hash = typeof sha256 === "string" ? asDigest(sha256, "sha256") : null;
    if (typeof name !== "string" || !name_form.test(name)) throw new Error("a file has an invalid name");
    if (hash === null) throw new Error(`${name} has no valid SHA-256`);
    if (!Number.isSafeInteger(bytes) || Number(bytes) < 0 || Number(bytes) > SIGNED_FILE_BYTES_MAX) {
      throw new Error(`${name} has no valid size in bytes`);
    }
    return { name, sha256: hash, bytes: Number(bytes) };
  });
  if (new Set(read.map(({ name }) => name)).size !== read.length) throw new Error("it lists a file name twice");
  return read;
}
