// What the vendor itself says of a file, asked again: the index may be old, wrong or somebody else's. A checksum document
// must list the hash the index has; with a signature wanted, it must list it in the bytes the signature covers.
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";
import { isListFormat, listedHash } from "./checksums.ts";
import { type KnownDigest, knownDigests } from "./digest.ts";
import type { Artifact, Signature } from "./model.ts";
import { fingerprintOf, type Good, type Keys, readKeys, verifyClearSigned, verifyDetached } from "./signature.ts";
import type { Source } from "./source.ts";

/** How far a digest was traced: to the vendor's own document, to the index only, or there is none. */
export type Traced = "vendor" | "index" | "none";

export type SignatureWish = {
  /** A key file of the user's, in place of the one the index names. */
  readonly key: Uint8Array | null;
  /** Upper case; those the key may have. Empty where the user did not say. */
  readonly fingerprints: readonly string[];
};
export type SignedBy = Good & { readonly signature_url: string };

/** How far its digests can be traced. */
export function traceable(artifact: Artifact): Traced {
  const digests = knownDigests(artifact);
  if (digests.length === 0) return "none";
  return digests.some(({ source }) => isListFormat(source?.format ?? "")) ? "vendor" : "index";
}

/** Asks every checksum document again. Throws a Failure where the vendor says otherwise than the index. */
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
  if (!isListFormat(format)) throw new Failure(`${where} is of a format that cannot be read here`, EXIT.failure);
  const listed = listedHash(where, document, { format, algorithm, filename: source?.filename ?? null });
  if (listed !== value) {
    throw new Failure(
      `the vendor and the index disagree: ${where} lists ${algorithm} ${listed}, not ${value}`,
      EXIT.failure,
    );
  }
}

/** Signatures over the image itself, which need the whole file. */
export function signaturesOfImage(artifact: Artifact): readonly Signature[] {
  const urls = artifact.locations.map(({ url }) => url);
  return signaturesOf(artifact).filter(({ signs }) => urls.includes(signs));
}

/** Signatures over a document that lists one of its digests. */
function signaturesOfDocuments(artifact: Artifact): readonly Signature[] {
  return signaturesOf(artifact).filter(({ signs }) => digestFrom(artifact, signs) !== undefined);
}

function signaturesOf({ integrity }: Artifact): readonly Signature[] {
  return (integrity?.signatures ?? []).filter(({ kind }) => kind === "pgp_detached" || kind === "pgp_clearsigned");
}

function digestFrom(artifact: Artifact, url: string): KnownDigest | undefined {
  return knownDigests(artifact).find(({ source }) => source?.url === url && isListFormat(source.format));
}

/**
 * Throws a Failure when the index names no signature that says anything about the file, or one over the image by a key
 * that nobody vouches for: to learn that after the download would be late.
 */
export async function requireSignature(source: Source, artifact: Artifact, wish: SignatureWish): Promise<void> {
  if (signaturesOfDocuments(artifact).length + signaturesOfImage(artifact).length === 0) {
    throw new Failure(
      "the vendor signs neither this image nor a list with its hash, as far as the index knows",
      EXIT.failure,
    );
  }
  for (const signature of signaturesOfImage(artifact)) {
    const { keys, pinned } = await keysFor(source, artifact, { signature, wish });
    if (!pinned) throw unpinned(keys.map(fingerprintOf));
  }
}

/**
 * Who could put another image into the index could put another key beside it, so its word for a key is none: the user, a
 * key file or the address of a key server has to name it.
 */
function unpinned(fingerprints: readonly string[]): Failure {
  const [first, ...more] = fingerprints;
  const which = more.length === 0
    ? `${first} is the vendor's key`
    : `one of ${fingerprints.join(", ")} is the vendor's key`;
  return new Failure(
    `only the index says that ${which}; compare it with what the vendor publishes and pass --fingerprint ` +
      `${more.length === 0 ? first : "<hex>"}, or the vendor's key as --key`,
    EXIT.failure,
  );
}

/** Verifies those that can be before the image is here. */
export async function checkDocumentSignatures(
  source: Source,
  artifact: Artifact,
  wish: SignatureWish,
): Promise<readonly SignedBy[]> {
  const found: SignedBy[] = [];
  for (const signature of signaturesOfDocuments(artifact)) {
    const { keys, pinned } = await keysFor(source, artifact, { signature, wish });
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

export async function checkImageSignatures(
  source: Source,
  artifact: Artifact,
  { wish, path }: { wish: SignatureWish; path: string },
): Promise<readonly SignedBy[]> {
  const found: SignedBy[] = [];
  for (const signature of signaturesOfImage(artifact)) {
    const { keys, pinned } = await keysFor(source, artifact, { signature, wish });
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
  { signature: { key_url }, wish }: { signature: Signature; wish: SignatureWish },
): Promise<{ keys: Keys; pinned: boolean }> {
  const in_address = wish.key === null ? pinIn(key_url ?? "") : null;
  const pins = wish.fingerprints.length > 0 ? wish.fingerprints : in_address === null ? null : [in_address];
  if (wish.key !== null) return { keys: await readKeys("the key file", wish.key, pins), pinned: true };
  if (key_url === null || key_url === undefined) {
    throw new Failure("the index does not say where the vendor's key is; pass --key", EXIT.failure);
  }
  return { keys: await readKeys(key_url, await source.document(key_url, artifact), pins), pinned: pins !== null };
}

/** A key server's address names the key by its whole fingerprint; nothing else of document 1 does. */
export function pinIn(key_url: string): string | null {
  return /[?&]search=0x([0-9a-f]{64}|[0-9a-f]{40})(?:&|$)/i.exec(key_url)?.[1]?.toUpperCase() ?? null;
}

/** The documents a mirror keeps, so that all of this works from it. */
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
