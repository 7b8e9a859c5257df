// Reads keys and signatures in both forms: armored text and binary. The caller passes the library openpgp, so this
// folder imports no package. Therefore the command-line programs need not load the library for every command.
import { armoredBlocks } from "./armor.ts";

/** The functions of an OpenPGP library that read keys. */
type KeyReader<Key> = {
  readonly readKeys:
    & ((given: { readonly binaryKeys: Uint8Array }) => Promise<Key[]>)
    & ((given: { readonly armoredKeys: string }) => Promise<Key[]>);
};
/** The functions of an OpenPGP library that read signatures. */
type SignatureReader<Signature> = {
  readonly readSignature:
    & ((given: { readonly binarySignature: Uint8Array }) => Promise<Signature>)
    & ((given: { readonly armoredSignature: string }) => Promise<Signature>);
};

/** Returns the keys of a document. Throws an Error if it has none. */
export async function readKeys<Key>(openpgp: KeyReader<Key>, document: Uint8Array): Promise<Key[]> {
  const blocks = armoredBlocks(document, "PGP PUBLIC KEY BLOCK");
  if (blocks === null) return await openpgp.readKeys({ binaryKeys: document });
  return (await Promise.all(blocks.map((armoredKeys) => openpgp.readKeys({ armoredKeys })))).flat();
}

/**
 * Returns a detached signature. Throws an Error if the document has several armored signatures, or if the library
 * cannot read the signature.
 */
export async function readSignature<Signature>(
  openpgp: SignatureReader<Signature>,
  document: Uint8Array,
): Promise<Signature> {
  const blocks = armoredBlocks(document, "PGP SIGNATURE");
  if (blocks === null) return await openpgp.readSignature({ binarySignature: document });
  if (blocks.length !== 1) throw new Error("more than one signature block");
  return await openpgp.readSignature({ armoredSignature: blocks[0]! });
}
