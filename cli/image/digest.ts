// Computes hashes of files, with the vendors' algorithms.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { DIGEST_HEX_CHARS, type DigestAlgorithm } from "../../src/lib/crypto/digest-hex.ts";
import { DIGEST_ALGORITHMS } from "../../src/lib/image-index/values.ts";
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";
import type { Environment } from "../internal/environment.ts";
import type { Artifact, Digest } from "./model.ts";

export type Hashes = Readonly<Partial<Record<DigestAlgorithm, string>>>;
export type KnownDigest = Digest & { readonly algorithm: DigestAlgorithm };

const READ_BYTES = 1024 * 1024;

/** Returns the artifact's digests whose algorithm this program supports. */
export function knownDigests({ integrity }: Artifact): readonly KnownDigest[] {
  return (integrity?.digests ?? []).filter((digest): digest is KnownDigest =>
    DIGEST_ALGORITHMS.some((name) => name === digest.algorithm && digest.value.length === DIGEST_HEX_CHARS[name])
  );
}

/** Reads a file once and returns its hashes. Calls `onProgress` with the number of bytes read so far. */
export async function hashFile(
  environment: Environment,
  path: string,
  { algorithms, onProgress = () => {} }: {
    algorithms: readonly DigestAlgorithm[];
    onProgress?: (bytes: number) => void;
  },
): Promise<Hashes> {
  const hashes = [...new Set(algorithms)].map((name) => ({ name, hash: createHash(name) }));
  let bytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: READ_BYTES })) {
    if (environment.signal.aborted) throw new Failure("interrupted", EXIT.interrupted);
    for (const { hash } of hashes) hash.update(chunk);
    onProgress(bytes += chunk.length);
  }
  return Object.fromEntries(hashes.map(({ name, hash }) => [name, hash.digest("hex")]));
}

/** Returns the first digest that differs from the hashes, or null. */
export function mismatch(hashes: Hashes, digests: readonly KnownDigest[]): KnownDigest | null {
  return digests.find(({ algorithm, value }) => hashes[algorithm] !== value) ?? null;
}
