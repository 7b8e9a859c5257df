// Verifies the seal of a segment of the audit archive: the signature, and the digest of the content. The caller checks
// the chain of the events.
import { createHash, createPublicKey, verify } from "node:crypto";
import { canonicalJson } from "../text/canonical-json.ts";

/** The signed description of a segment's events. */
export type SegmentStatement = {
  readonly number: number;
  readonly first_seq: number;
  readonly last_seq: number;
  /** The hash of the event before the segment, and the hash of the segment's last event. */
  readonly prev_hash: string;
  readonly last_hash: string;
  /** SHA-256 of the events' texts, each followed by a line feed. */
  readonly sha256: string;
};

/** A statement with its signature. */
export type SignedSegment = SegmentStatement & {
  /** The public key, Ed25519, in hex. */
  readonly public_key: string;
  /** The signature of the statement's text, in base64. */
  readonly signature: string;
};

/** The header of an Ed25519 key in SubjectPublicKeyInfo (RFC 8410). */
const PUBLIC_HEADER = "302a300506032b6570032100";

/** The text that is signed. */
export function statementText({ number, first_seq, last_seq, prev_hash, last_hash, sha256 }: SegmentStatement): string {
  const events = last_seq - first_seq + 1;
  return canonicalJson({ berth_audit_segment: 1, number, first_seq, last_seq, events, prev_hash, last_hash, sha256 });
}

/**
 * Returns what is wrong with the seal of a segment, or null.
 * @param trusted the public key that must have signed the segment; null for any key
 */
export function sealFlaw(segment: SignedSegment, content: string, trusted: string | null): string | null {
  const { number, public_key, signature, sha256 } = segment;
  if (trusted !== null && public_key !== trusted) return `segment ${number} is signed by another key, ${public_key}`;
  if (digestOf(content) !== sha256) return `the content of segment ${number} does not match its digest`;
  return isSigned(public_key, statementText(segment), signature) ? null : `the signature of segment ${number} is wrong`;
}

/** Returns the SHA-256 of a text in UTF-8, in hex. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** The texts of the events in the content of a segment. */
export function textsIn(content: string): string[] {
  return content.split("\n").slice(0, -1);
}

function isSigned(public_key: string, text: string, signature: string): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(PUBLIC_HEADER + public_key, "hex"), format: "der", type: "spki" });
    return verify(null, Buffer.from(text), key, Buffer.from(signature, "base64"));
  } catch {
    return false; // The key is not an Ed25519 key.
  }
}
