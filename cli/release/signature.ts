// The release's signature: OpenPGP, detached, by a key in a file. install.sh checks it with gpgv.
import { Buffer } from "node:buffer";
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
  const armoredKey = await readFile(path, "utf8").catch((error) => {
    throw new Error(`${path}: cannot be read (${(error as { code?: string }).code ?? "unknown error"})`);
  });
  const read = await openpgp.readPrivateKey({ armoredKey }).catch(() => {
    throw new Error(`${path}: is not an armored private key, as of gpg --armor --export-secret-keys`);
  });
  const key = passphrase === null || read.isDecrypted()
    ? read
    : await openpgp.decryptKey({ privateKey: read, passphrase }).catch(() => {
      throw new Error(`${path}: BERTH_RELEASE_PASSPHRASE does not open the key`);
    });
  if (!key.isDecrypted()) throw new Error(`${path}: the key needs its passphrase, in BERTH_RELEASE_PASSPHRASE`);
  const { algorithm } = (await key.getSigningKey()).getAlgorithmInfo();
  if (!KNOWN_TO_GPGV.includes(algorithm)) {
    throw new Error(`${path}: gpgv of Debian 12 does not know ${algorithm} keys: use ed25519 or RSA`);
  }
  return key;
}

/**
 * When a release says that it was signed: at the time of its files, so that the same tree makes the same bytes, and not
 * before the key was made, since no verifier takes that.
 */
export async function signingTime(key: ReleaseKey, time_s: number): Promise<Date> {
  const { keyPacket } = await key.getSigningKey();
  return new Date(Math.max(time_s * 1_000, key.getCreationTime().getTime(), keyPacket.created.getTime()));
}

/** Armored. Ed25519 and RSA keys make the same signature for the same bytes and time. */
export async function signDetached(key: ReleaseKey, bytes: Uint8Array, date: Date): Promise<string> {
  const message = await openpgp.createMessage({ binary: bytes });
  // Without it the library adds chance to every signature.
  const config = { nonDeterministicSignaturesViaNotation: false };
  return await openpgp.sign({ message, signingKeys: key, detached: true, date, config });
}

/** The public half, armored. */
export function armoredPublicKey(key: ReleaseKey): string {
  return key.toPublic().armor();
}

/** RFC 8410, section 4: the bytes before an Ed25519 key in a SubjectPublicKeyInfo. */
const ED25519_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

/** The signing half's public key in PEM, or null for a kind that only gpgv verifies. */
export async function publicKeyPem(key: ReleaseKey): Promise<string | null> {
  const { keyPacket } = await key.getSigningKey();
  if (keyPacket.getAlgorithmInfo().algorithm !== "eddsaLegacy") return null;
  // RFC 4880bis: a byte 0x40, then the key.
  const { Q } = keyPacket.publicParams as { readonly Q: Uint8Array };
  const base64 = Buffer.concat([ED25519_PREFIX, Q.subarray(1)]).toString("base64");
  return `-----BEGIN PUBLIC KEY-----\n${base64}\n-----END PUBLIC KEY-----`;
}

/** The public half as gpgv reads a keyring: the binary form. */
export function keyring(key: ReleaseKey): Uint8Array {
  return key.toPublic().write();
}
