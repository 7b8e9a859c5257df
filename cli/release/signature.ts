// Signs a release: detached OpenPGP signatures by a key in a file. install.sh verifies them with gpgv. The channel's
// install.sh can also use OpenSSL.
import { Buffer } from "node:buffer";
import { readFile } from "node:fs/promises";
import * as openpgp from "openpgp";

export type ReleaseKey = openpgp.PrivateKey;

/** Key algorithms that gpgv of Debian 12 supports. */
const KNOWN_TO_GPGV: readonly string[] = ["rsaEncryptSign", "rsaSign", "eddsaLegacy", "ecdsa"];

/**
 * Reads an armored private key. Throws an Error if the file is not a key, the passphrase is missing or wrong, or gpgv
 * does not support the key.
 */
export async function readReleaseKey(path: string, passphrase: string | null): Promise<ReleaseKey> {
  const armoredKey = await readFile(path, "utf8").catch((error) => {
    throw new Error(`${path}: cannot be read (${(error as { code?: string }).code ?? "unknown error"})`);
  });
  const read = await openpgp.readPrivateKey({ armoredKey }).catch(() => {
    throw new Error(`${path}: not an armored private key; export one with gpg --armor --export-secret-keys`);
  });
  const key = passphrase === null || read.isDecrypted()
    ? read
    : await openpgp.decryptKey({ privateKey: read, passphrase }).catch(() => {
      throw new Error(`${path}: BERTH_RELEASE_PASSPHRASE is not the passphrase of the key`);
    });
  if (!key.isDecrypted()) throw new Error(`${path}: the key needs a passphrase; set BERTH_RELEASE_PASSPHRASE`);
  const { algorithm } = (await key.getSigningKey()).getAlgorithmInfo();
  if (!KNOWN_TO_GPGV.includes(algorithm)) {
    throw new Error(`${path}: gpgv of Debian 12 does not support ${algorithm} keys; use ed25519 or RSA`);
  }
  return key;
}

/**
 * Returns the signing time: the time of the release's files, so that equal source gives equal bytes. If the key was
 * created later, returns the time of its creation, because verifiers refuse a signature that is older than its key.
 */
export async function signingTime(key: ReleaseKey, time_s: number): Promise<Date> {
  const { keyPacket } = await key.getSigningKey();
  return new Date(Math.max(time_s * 1_000, key.getCreationTime().getTime(), keyPacket.created.getTime()));
}

/**
 * Signs bytes and returns the armored signature. Ed25519 and RSA keys give the same signature for the same bytes and
 * time.
 */
export async function signDetached(key: ReleaseKey, bytes: Uint8Array, date: Date): Promise<string> {
  const message = await openpgp.createMessage({ binary: bytes });
  // By default the library adds random data to every signature.
  const config = { nonDeterministicSignaturesViaNotation: false };
  return await openpgp.sign({ message, signingKeys: key, detached: true, date, config });
}

export function armoredPublicKey(key: ReleaseKey): string {
  return key.toPublic().armor();
}

/** RFC 8410, section 4: the bytes before an Ed25519 key in a SubjectPublicKeyInfo. */
const ED25519_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

/** Returns the public signing key in PEM, or null if only gpgv can verify its algorithm. */
export async function publicKeyPem(key: ReleaseKey): Promise<string | null> {
  const { keyPacket } = await key.getSigningKey();
  if (keyPacket.getAlgorithmInfo().algorithm !== "eddsaLegacy") return null;
  // RFC 4880bis: a byte 0x40, then the key.
  const { Q } = keyPacket.publicParams as { readonly Q: Uint8Array };
  const base64 = Buffer.concat([ED25519_PREFIX, Q.subarray(1)]).toString("base64");
  return `-----BEGIN PUBLIC KEY-----\n${base64}\n-----END PUBLIC KEY-----`;
}

/** Returns the public key as a keyring for gpgv, in binary form. */
export function keyring(key: ReleaseKey): Uint8Array {
  return key.toPublic().write();
}
