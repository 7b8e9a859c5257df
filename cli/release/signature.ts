// The release's signature: OpenPGP, detached, by a key in a file. install.sh checks it with gpgv.
import { readFile } from "node:fs/promises";
import * as openpgp from "openpgp";

export type ReleaseKey = openpgp.PrivateKey;

/** What gpgv of Debian 12 verifies; newer kinds of keys it does not know. */
const KNOWN_TO_GPGV: readonly string[] = ["rsaEncryptSign", "rsaSign", "eddsaLegacy", "ecdsa"];

/**
 * The armored private key of a file. Throws an Error when it is none, its passphrase is wrong, or gpgv could not verify
 * what it signs.
 */
export async function readReleaseKey(path: string, passphrase: string | null): Promise<ReleaseKey> {
  const read = await openpgp.readPrivateKey({ armoredKey: await readFile(path, "utf8") });
  const key = passphrase === null || read.isDecrypted()
    ? read
    : await openpgp.decryptKey({ privateKey: read, passphrase });
  if (!key.isDecrypted()) throw new Error(`${path}: the key needs its passphrase`);
  const { algorithm } = (await key.getSigningKey()).getAlgorithmInfo();
  if (!KNOWN_TO_GPGV.includes(algorithm)) {
    throw new Error(`${path}: gpgv of Debian 12 does not know ${algorithm} keys: use ed25519 or RSA`);
  }
  return key;
}

/** Armored. */
export async function signDetached(key: ReleaseKey, bytes: Uint8Array): Promise<string> {
  const message = await openpgp.createMessage({ binary: bytes });
  return await openpgp.sign({ message, signingKeys: key, detached: true });
}

/** The public half as gpgv reads a keyring: the binary form. */
export function keyring(key: ReleaseKey): Uint8Array {
  return key.toPublic().write();
}
