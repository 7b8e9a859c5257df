// Finds the size, the SHA-256 and the address of an image. The control plane stores these facts for its nodes. The
// address comes from the index. Without --download, the size and the SHA-256 also come from the index. With --download
// they come from the downloaded file. The digest is compared with the vendor's own listing unless the operator trusts
// the index.
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contentBytes, isPlain } from "../../image/content-size.ts";
import { hashFile, knownDigests } from "../../image/digest.ts";
import { fetchImage } from "../../image/fetch-image.ts";
import type { Artifact, Image } from "../../image/model.ts";
import { fileName, type Source } from "../../image/source.ts";
import { type Proof, proveListing, type TrustPolicy } from "../../image/trust.ts";
import { signaturesOfImage } from "../../image/vendor-check.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";

export type Content = {
  readonly sha256: string;
  readonly size_bytes: number;
  /** Size of the disk in a compressed file; null if the file is the disk. */
  readonly content_bytes: number | null;
  readonly source_url: string;
  readonly proof: Proof;
};

export type Wanted = {
  readonly source: Source;
  readonly image: Image;
  readonly artifact: Artifact;
  readonly policy: TrustPolicy;
  /** Whether to download the image, and to take the size and the SHA-256 from the file. */
  readonly download: boolean;
  /** Size of the disk in a compressed file, given by the operator; null if not given. */
  readonly content_bytes: number | null;
};

/**
 * Returns the facts of an image. Throws a Failure if the image cannot be verified. Also throws a Failure if a fact
 * needs a download that the operator did not allow.
 */
export async function contentOf(io: Io, wanted: Wanted): Promise<Content> {
  const { source, artifact, policy, download, content_bytes } = wanted;
  const source_url = urlOf(artifact);
  const listed = listedSha256(artifact);
  const size = artifact.size ?? null;
  const missing = [
    ...(listed === null ? ["its SHA-256"] : []),
    ...(size === null ? ["its size"] : []),
    ...(!isPlain(artifact) && content_bytes === null ? ["the size of the disk in it"] : []),
    ...(policy.signature !== null && signaturesOfImage(artifact).length > 0 ? ["whether its signature is valid"] : []),
  ];
  if (download) return { ...await fetched(io, wanted), source_url };
  if (listed === null || size === null || missing.length > 0) {
    throw new Failure(
      `the index does not list ${missing.join(" and ")}; pass --download to fetch and verify the image`,
      EXIT.failure,
    );
  }
  const proof = await proveListing(source, artifact, policy);
  requireVendor(proof, policy);
  return { sha256: listed, size_bytes: size, content_bytes, source_url, proof };
}

/** Returns the unverified SHA-256 in the index; null if the index lists no SHA-256. */
export function listedSha256(artifact: Artifact): string | null {
  return knownDigests(artifact).find(({ algorithm }) => algorithm === "sha256")?.value ?? null;
}

async function fetched(
  io: Io,
  { source, image, artifact, policy, content_bytes: given }: Wanted,
): Promise<Omit<Content, "source_url">> {
  const folder = await mkdtemp(join(tmpdir(), "opsctl-image-"));
  try {
    const target = join(folder, fileName(artifact));
    const { proof } = await fetchImage(io, { source, image, artifact, target, check: policy, other: "refuse" });
    requireVendor(proof, policy);
    const { sha256 } = await hashFile(io.environment, target, { algorithms: ["sha256"] });
    const content_bytes = given ?? await contentBytes(io.environment, target, artifact);
    return { sha256: sha256!, size_bytes: (await stat(target)).size, content_bytes, proof };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Throws a Failure if neither the vendor nor the index lists the digest. Also throws a Failure if only the index lists
 * the digest and the operator did not pass --trust-index. Trust in the index alone needs an explicit option, because
 * every tenant may run an imported image.
 */
function requireVendor({ traced }: Proof, { trust_index }: TrustPolicy): void {
  if (traced === "vendor" || (traced === "index" && trust_index)) return;
  throw new Failure(
    "the vendor publishes no checksum of this image, so it cannot be verified; pass --trust-index to trust the index",
    EXIT.failure,
  );
}

/** Returns an address that nodes can fetch from; a file on this machine is not enough. */
function urlOf({ locations }: Artifact): string {
  const found = locations.find(({ url }) => /^https?:\/\//.test(url));
  if (found === undefined) {
    throw new Failure("the index lists no http(s) address, so nodes could not fetch the image", EXIT.failure);
  }
  return found.url;
}
