// Compares the index with the vendor's own documents, because an index may be old, wrong or untrusted. The vendor's
// checksum document must list the same hash as the index. If the user requests a signature, a signature must cover the
// image, or a document that lists this hash.
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";
import { isListFormat, isSignatureKind } from "../../src/lib/image-index/values.ts";
import { listedHash } from "./checksums.ts";
import { type KnownDigest, knownDigests } from "./digest.ts";
import type { Artifact, Signature } from "./model.ts";
import { fingerprintOf, type Good, type Keys, readKeys, verifyClearSigned, verifyDetached } from "./signature.ts";
import type { Source } from "./source.ts";

/** The best source of a digest: the vendor's own document, or only the index. `none`: there is no digest. */
export type Traced = "vendor" | "index" | "none";

export type SignatureRequirement = {
  /** The user's key file, instead of the key that the index names. */
  readonly key: Uint8Array | null;
  /** Accepted fingerprints, upper case. Empty if the user named none. */
  readonly fingerprints: readonly string[];
};
export type SignedBy = Good & { readonly signature_url: string };

/** Returns whether the vendor's document, only the index, or neither has a digest of the artifact. */
export function traceable(artifact: Artifact): Traced {
  const digests = knownDigests(artifact);
  if (digests.length === 0) return "none";
  return digests.some(({ source }) => isListFormat(source?.format ?? "")) ? "vendor" : "index";
}

/** Fetches the checksum documents in known formats. Throws a Failure if a hash in them differs from the index. */
export async function askVendor(source: Source, artifact: Artifact): Promise<Traced> {
  for (const digest of knownDigests(artifact)) {
    const { url } = digest.source ?? {};
    if (url === undefined || !isListFormat(digest.source!.format)) continue;
    agree(digest, url, new TextDecoder().decode(await source.document(url, artifact)));
  }
  return traceable(artifact);
}

function agree(digest: KnownDigest, where: string, document: string): void {
  const { algorithm, value, source } = digest;
  const format = source?.format ?? "";
  if (!isListFormat(format)) throw new Failure(`${where} has an unknown format`, EXIT.failure);
  const listed = listedHash(where, document, { format, algorithm, filename: source?.filename ?? null });
  if (listed !== value) {
    throw new Failure(
      `the vendor and the index disagree: ${where} lists ${algorithm} ${listed}, not ${value}`,
      EXIT.failure,
    );
  }
}

/** Lists the signatures over the image itself. Checking them needs the complete file. */
export function signaturesOfImage(artifact: Artifact): readonly Signature[] {
  const urls = artifact.locations.map(({ url }) => url);
  return signaturesOf(artifact).filter(({ signs }) => urls.includes(signs));
}

/** Lists the signatures over documents that list a digest of the artifact. */
function signaturesOfDocuments(artifact: Artifact): readonly Signature[] {
  return signaturesOf(artifact).filter(({ signs }) => digestFrom(artifact, signs) !== undefined);
}

function signaturesOf({ integrity }: Artifact): readonly Signature[] {
  return (integrity?.signatures ?? []).filter(({ kind }) => isSignatureKind(kind));
}

function digestFrom(artifact: Artifact, url: string): KnownDigest | undefined {
  return knownDigests(artifact).find(({ source }) => source?.url === url && isListFormat(source.format));
}

/**
 * Throws a Failure when the index has no signature for the file, or when only the index names the key of a signature
 * over the image. Call it before the download, which may take long.
 */
export async function requireSignature(
  source: Source,
  artifact: Artifact,
  request: SignatureRequirement,
): Promise<void> {
  if (signaturesOfDocuments(artifact).length + signaturesOfImage(artifact).length === 0) {
    throw new Failure(
      "the index has no signature of the vendor over this image or over a list with its hash",
      EXIT.failure,
    );
  }
  for (const signature of signaturesOfImage(artifact)) {
    const { keys, pinned } = await keysFor(source, artifact, { signature, request });
    if (!pinned) throw unpinned(keys.map(fingerprintOf));
  }
}

/**
 * Returns the failure for a key that only the index names. An attacker who can change an image in the index can also
 * change the key and its URL. So the fingerprint or the key file must come from the user.
 */
function unpinned(fingerprints: readonly string[]): Failure {
  const [first, ...more] = fingerprints;
  const which = more.length === 0
    ? `${first} is the vendor's key`
    : `one of ${fingerprints.join(", ")} is the vendor's key`;
  return new Failure(
    `only the index says that ${which}; compare the fingerprint with the vendor's website and pass --fingerprint ` +
      `${more.length === 0 ? first : "<hex>"}, or pass the vendor's key with --key`,
    EXIT.failure,
  );
}

/** Verifies the signatures over documents. This does not need the image file. */
export async function checkDocumentSignatures(
  source: Source,
  artifact: Artifact,
  request: SignatureRequirement,
): Promise<readonly SignedBy[]> {
  const found: SignedBy[] = [];
  for (const signature of signaturesOfDocuments(artifact)) {
    const { keys, pinned } = await keysFor(source, artifact, { signature, request });
    const document = await source.document(signature.signs, artifact);
    const { text, ...good } = signature.kind === "pgp_clearsigned"
      ? await verifyClearSigned(signature.signs, document, keys)
      : { ...await detached(source, artifact, { signature, keys, content: document }), text: utf8(document) };
    agree(digestFrom(artifact, signature.signs)!, signature.signs, text);
    if (!pinned) throw unpinned([good.fingerprint]);
    found.push({ ...good, signature_url: signature.url });
  }
  return found;
}

/** Verifies the signatures over the image file at `path`. */
export async function checkImageSignatures(
  source: Source,
  artifact: Artifact,
  { request, path }: { request: SignatureRequirement; path: string },
): Promise<readonly SignedBy[]> {
  const found: SignedBy[] = [];
  for (const signature of signaturesOfImage(artifact)) {
    const { keys, pinned } = await keysFor(source, artifact, { signature, request });
    const good = await detached(source, artifact, { signature, keys, content: { path } });
    if (!pinned) throw unpinned([good.fingerprint]);
    found.push({ ...good, signature_url: signature.url });
  }
  return found;
}

async function detached(
  source: Source,
  artifact: Artifact,
  { signature: { url, signs }, keys, content }: {
    signature: Signature;
    keys: Keys;
    content: Uint8Array | { path: string };
  },
): Promise<Good> {
  return await verifyDetached(signs, { content, keys, signature: await source.document(url, artifact) });
}

async function keysFor(
  source: Source,
  artifact: Artifact,
  { signature: { key_url }, request }: { signature: Signature; request: SignatureRequirement },
): Promise<{ keys: Keys; pinned: boolean }> {
  const in_address = request.key === null ? fingerprintIn(key_url ?? "") : null;
  const wanted = request.fingerprints.length > 0 ? request.fingerprints : in_address === null ? null : [in_address];
  if (request.key !== null) return { keys: await readKeys("the key file", request.key, wanted), pinned: true };
  if (key_url === null || key_url === undefined) {
    throw new Failure("the index lists no URL for the vendor's key; pass the key file with --key", EXIT.failure);
  }
  const keys = await readKeys(key_url, await source.document(key_url, artifact), wanted);
  return { keys, pinned: request.fingerprints.length > 0 };
}

/**
 * Returns the fingerprint in the URL of a key server, or null. The fingerprint selects the key, because a key server
 * may return several keys.
 */
export function fingerprintIn(key_url: string): string | null {
  return /[?&]search=0x([0-9a-f]{64}|[0-9a-f]{40})(?:&|$)/i.exec(key_url)?.[1]?.toUpperCase() ?? null;
}

/** Lists the documents that a mirror keeps, so that verification works from the mirror. */
export function documentsOf(artifact: Artifact): readonly string[] {
  const digests = knownDigests(artifact).filter(({ source }) => isListFormat(source?.format ?? ""));
  const signatures = [...signaturesOfDocuments(artifact), ...signaturesOfImage(artifact)];
  const image_urls = artifact.locations.map(({ url }) => url);
  const all = [
    ...digests.map(({ source }) => source!.url),
    ...signatures.flatMap(({ url, signs, key_url }) => [url, signs, key_url ?? []].flat()),
  ];
  return [...new Set(all)].filter((url) => !image_urls.includes(url));
}

function utf8(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
