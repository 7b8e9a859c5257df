// Runs the verification that a user requests, and describes its result.
import { readFile } from "node:fs/promises";
import { unreadable } from "../internal/file-problem.ts";
import { usageFailure } from "../internal/failure.ts";
import type { Artifact } from "./model.ts";
import type { Source } from "./source.ts";
import {
  askVendor,
  checkDocumentSignatures,
  requireSignature,
  type SignatureRequirement,
  type SignedBy,
  traceable,
  type Traced,
} from "./vendor-check.ts";

export type TrustOptions = {
  readonly trustIndex?: true | undefined;
  readonly signature?: true | undefined;
  readonly key?: string | undefined;
  readonly fingerprint?: readonly string[] | undefined;
};
export type TrustPolicy = { readonly trust_index: boolean; readonly signature: SignatureRequirement | null };
export type Proof = { readonly traced: Traced; readonly signed_by: readonly SignedBy[] };

export async function trustPolicyOf(options: TrustOptions): Promise<TrustPolicy> {
  const { trustIndex, signature, key, fingerprint } = options;
  const trust_index = trustIndex === true;
  if (signature !== true) {
    if (key !== undefined || fingerprint !== undefined) {
      throw usageFailure("--key and --fingerprint need --signature");
    }
    return { trust_index, signature: null };
  }
  return {
    trust_index,
    signature: { key: key === undefined ? null : await readKeyFile(key), fingerprints: (fingerprint ?? []).map(pinOf) },
  };
}

async function readKeyFile(path: string): Promise<Uint8Array> {
  return await readFile(path).catch((error) => {
    throw unreadable(path, "--key", error);
  });
}

function pinOf(fingerprint: string): string {
  const hex = fingerprint.replace(/\s/g, "").replace(/^0x/i, "").toUpperCase();
  if (!/^(?:[0-9A-F]{40}|[0-9A-F]{64})$/.test(hex)) {
    throw usageFailure("--fingerprint must be a complete fingerprint of 40 or 64 hex digits");
  }
  return hex;
}

/**
 * Checks everything that does not need the image file. Throws a Failure when the vendor's documents differ from the
 * index.
 */
export async function proveListing(source: Source, artifact: Artifact, check: TrustPolicy): Promise<Proof> {
  const traced = check.trust_index ? withoutVendor(traceable(artifact)) : await askVendor(source, artifact);
  if (check.signature === null) return { traced, signed_by: [] };
  await requireSignature(source, artifact, check.signature);
  return { traced, signed_by: await checkDocumentSignatures(source, artifact, check.signature) };
}

function withoutVendor(traced: Traced): Traced {
  return traced === "none" ? "none" : "index";
}

export function proofText({ traced, signed_by }: Proof): string {
  const checked = {
    vendor: "verified against the vendor's checksums",
    index: "verified against the index",
    none: "not verified",
  }[traced];
  const keys = [...new Set(signed_by.map(({ fingerprint }) => fingerprint))];
  return keys.length === 0 ? checked : `${checked}; signed by ${keys.join(", ")}`;
}
