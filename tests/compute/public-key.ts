// Makes random public keys in OpenSSH form. No private keys belong to them.
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";

export function newPublicKey(comment = "test"): string {
  const blob = Buffer.concat(["ssh-ed25519", randomBytes(32)].map(field));
  return `ssh-ed25519 ${blob.toString("base64")} ${comment}`;
}

function field(bytes: Buffer | string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(bytes));
  return Buffer.concat([length, Buffer.from(bytes)]);
}
