// What the control plane has to know of an image's bytes: their number, their SHA-256 and where nodes get them. All of it
// is the vendor's word, asked again; what the vendor does not say is read off the file itself, once that is verified.
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contentBytes, isPlain } from "../../image/content-size.ts";
import { hashFile, knownDigests } from "../../image/digest.ts";
import { fetchImage } from "../../image/fetch-image.ts";
import type { Artifact, Image } from "../../image/model.ts";
import { fileName, type Source } from "../../image/source.ts";
import { type Proof, proveListing, type Wish } from "../../image/trust.ts";
import { signaturesOfImage } from "../../image/vendor-check.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";

export type Content = {
  readonly sha256: string;
  readonly size_bytes: number;
  /** Of the disk that the file holds; null where it is the file. */
  readonly content_bytes: number | null;
  readonly source_url: string;
  readonly proof: Proof;
};

export type Wanted = {
  readonly source: Source;
  readonly image: Image;
  readonly artifact: Artifact;
  readonly wish: Wish;
  /** Whether the image may be fetched for what is not listed. */
  readonly download: boolean;
  /** What the operator says of the disk in a compressed file. */
  readonly content_bytes: number | null;
};

/** Throws a Failure for what cannot be verified. */
export async function contentOf(io: Io, wanted: Wanted): Promise<Content> {
  const { source, artifact, wish, download, content_bytes } = wanted;
  const source_url = urlOf(artifact);
  const listed = listedSha256(artifact);
  const size = artifact.size ?? null;
  const lacking = [
    ...(listed === null ? ["its SHA-256"] : []),
    ...(size === null ? ["its size"] : []),
    ...(!isPlain(artifact) && content_bytes === null ? ["how large the disk in it is"] : []),
    ...(wish.signature !== null && signaturesOfImage(artifact).length > 0 ? ["whether its signature holds"] : []),
  ];
  if (download) return { ...await fetched(io, wanted), source_url };
  if (listed === null || size === null || lacking.length > 0) {
    throw new Failure(
      `the index does not say ${lacking.join(" and ")}; --download fetches the image, verifies it and finds out`,
      EXIT.failure,
    );
  }
  const proof = await proveListing(source, artifact, wish);
  requireVendor(proof, wish);
  return { sha256: listed, size_bytes: size, content_bytes, source_url, proof };
}

/** What the index lists, without a look at whether it is true. */
export function listedSha256(artifact: Artifact): string | null {
  return knownDigests(artifact).find(({ algorithm }) => algorithm === "sha256")?.value ?? null;
}

async function fetched(
  io: Io,
  { source, image, artifact, wish, content_bytes: said }: Wanted,
): Promise<Omit<Content, "source_url">> {
  const folder = await mkdtemp(join(tmpdir(), "opsctl-image-"));
  try {
    const target = join(folder, fileName(artifact));
    const { proof } = await fetchImage(io, { source, image, artifact, target, check: wish, other: "refuse" });
    requireVendor(proof, wish);
    const { sha256 } = await hashFile(io.environment, target, { algorithms: ["sha256"] });
    const content_bytes = said ?? await contentBytes(io.environment, target, artifact);
    return { sha256: sha256!, size_bytes: (await stat(target)).size, content_bytes, proof };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Every tenant will run what is imported, so the index's word alone takes an explicit wish. */
function requireVendor({ traced }: Proof, { trust_index }: Wish): void {
  if (traced === "vendor" || (traced === "index" && trust_index)) return;
  throw new Failure(
    "the vendor publishes no list with its hash, so it cannot be verified; --trust-index takes the index's word",
    EXIT.failure,
  );
}

/** Nodes fetch it themselves, so a copy on this machine will not do. */
function urlOf({ locations }: Artifact): string {
  const found = locations.find(({ url }) => /^https?:\/\//.test(url));
  if (found === undefined) {
    throw new Failure("the index names no address from which nodes could fetch it", EXIT.failure);
  }
  return found.url;
}
