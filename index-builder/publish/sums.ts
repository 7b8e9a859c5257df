// Protects the integrity of a tree that is signed: v1/SHA256SUMS lists the hash of every file except itself and its
// detached signature. Names are relative to v1/, so that `sha256sum -c` works in this folder.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import * as openpgp from "openpgp";
import { pinnedKeys, verifyDetached } from "../signatures/verify.ts";
import type { Problem } from "../tree/check.ts";
import { SUMS_PATH, SUMS_SIGNATURE_PATH } from "../../src/lib/image-index/paths.ts";
import type { Files } from "../tree/tree.ts";

export type SigningKey = openpgp.PrivateKey;

/**
 * Reads the signing key.
 * @param passphrase null for a key without a passphrase
 */
export async function readSigningKey(path: string, passphrase: string | null): Promise<SigningKey> {
  const key = await openpgp.readPrivateKey({ armoredKey: await readFile(path, "utf8") });
  return passphrase === null || key.isDecrypted() ? key : openpgp.decryptKey({ privateKey: key, passphrase });
}

function sumsText(files: Files): string {
  return [...files]
    .filter(([path]) => path !== SUMS_PATH && path !== SUMS_SIGNATURE_PATH)
    .map(([path, text]) => [path.startsWith("v1/") ? path.slice(3) : `../${path}`, text] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, text]) => `${createHash("sha256").update(text).digest("hex")}  ${name}\n`)
    .join("");
}

/**
 * Adds SHA256SUMS and its signature to the files. If the sums are unchanged and the key verifies the old signature,
 * keeps this signature, so that an unchanged tree has the same bytes.
 */
export async function signed(
  files: Files,
  before: Files | null,
  setting: { key: SigningKey; now: Date },
): Promise<Files> {
  const sums = sumsText(files);
  const key = new TextEncoder().encode(setting.key.toPublic().armor());
  const is_kept = before?.get(SUMS_PATH) === sums && (await checkSums(before, { key, now: setting.now })).length === 0;
  const signature = is_kept ? before.get(SUMS_SIGNATURE_PATH)! : await openpgp.sign({
    message: await openpgp.createMessage({ text: sums }),
    signingKeys: setting.key,
    detached: true,
    date: setting.now,
  });
  return new Map([...files, [SUMS_PATH, sums], [SUMS_SIGNATURE_PATH, signature]]);
}

/**
 * Checks SHA256SUMS against the files, and the signature of SHA256SUMS.
 * @param key the public key that verifies the signature; null: the signature is not checked, and a tree without sums
 * passes
 */
export async function checkSums(
  files: Files,
  setting: { key: Uint8Array | null; now: Date },
): Promise<Problem[]> {
  const sums = files.get(SUMS_PATH);
  const signature = files.get(SUMS_SIGNATURE_PATH);
  if (sums === undefined || signature === undefined) {
    const half = sums !== undefined || signature !== undefined;
    return half || setting.key !== null ? [`${SUMS_PATH}: the sums or their signature are missing`] : [];
  }
  const problems = sums === sumsText(files) ? [] : [`${SUMS_PATH}: does not match the files`];
  if (setting.key === null) return problems;
  const encoder = new TextEncoder();
  try {
    const all = await openpgp.readKeys({ armoredKeys: new TextDecoder().decode(setting.key) });
    const fingerprints = all.map((key) => key.getFingerprint().toUpperCase());
    const keys = await pinnedKeys("the key", setting.key, fingerprints);
    const signed = { what: SUMS_PATH, document: encoder.encode(sums), signature: encoder.encode(signature), keys };
    await verifyDetached({ ...signed, now: setting.now });
    return problems;
  } catch (error) {
    return [...problems, `${SUMS_SIGNATURE_PATH}: ${error instanceof Error ? error.message : String(error)}`];
  }
}
