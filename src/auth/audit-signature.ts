// Signs the segments of the audit archive with Ed25519. The key is derived from the server's secret. Anyone can check a
// signature with the public key. Only the owner of the secret can sign.
import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { derive } from "./seal.ts";

export type AuditSigner = {
  /** The public key as 64 hex characters. */
  readonly public_key: string;
  /** Signs the UTF-8 bytes of a statement. Returns base64. */
  sign(statement: string): string;
};

const SEED_BYTES = 32;
/** The headers of an Ed25519 key in PKCS #8 and in SubjectPublicKeyInfo (RFC 8410). The 32 bytes of the key follow. */
const PRIVATE_HEADER = Buffer.from("302e020100300506032b657004220420", "hex");
const PUBLIC_HEADER = Buffer.from("302a300506032b6570032100", "hex");

export function createAuditSigner(secret: Uint8Array): AuditSigner {
  const seed = derive(secret, { purpose: "audit-archive", id: "ed25519" }, SEED_BYTES);
  const key = createPrivateKey({ key: Buffer.concat([PRIVATE_HEADER, seed]), format: "der", type: "pkcs8" });
  const spki = createPublicKey(key).export({ format: "der", type: "spki" });
  return {
    public_key: spki.subarray(PUBLIC_HEADER.length).toString("hex"),
    sign: (statement) => sign(null, Buffer.from(statement), key).toString("base64"),
  };
}
