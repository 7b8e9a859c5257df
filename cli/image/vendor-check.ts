// Checks a file against the vendor's own documents, because the index may be old, wrong or untrusted. A checksum
// document must list the index's hash; if a signature is required, in the signed bytes.
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";
import { isListFormat, listedHash } from "./checksums.ts";
import { type KnownDigest, knownDigests } from "./digest.ts";
import type { Artifact, Signature } from "./model.ts";
import { fingerprintOf, type Good, type Keys, readKeys, verifyClearSigned, verifyDetached } from "./signature.ts";
import type { Source } from "./source.ts";

/** The source of a digest: the vendor's document, only the index, or no digest. */
export type Traced = "vendor" | "index" | "none";

export type SignatureRequirement = {
  /** The user's key file, in place of the key that the index names. */
  readonly key: Uint8Array | null;
  /** Accepted fingerprints, upper case. Empty if the user gave none. */
  readonly fingerprints: readonly string[];
};
export type SignedBy = Good & { readonly signature_url: string };

/** Returns the best source of the artifact's digests. */
export function traceable(artifact: Artifact): Traced {
  const digests = knownDigests(artifact);
  if (digests.length === 0) return "none";
  return digests.some(({ source }) => isListFormat(source?.format ?? "")) ? "vendor" : "index";
}

/** Fetches every checksum document. Throws a Failure if the vendor contradicts the index. */
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
  if (!isListFormat(format)) throw new Failure(`${where} has an unsupported format`, EXIT.failure);
  const listed = listedHash(where, document, { format, algorithm, filename: source?.filename ?? null });
  if (listed !== value) {
    throw new Failure(
      `the vendor and the index disagree: ${where} lists ${algorithm} ${listed}, not ${value}`,
      EXIT.failure,
    );
  }
}

/** Returns signatures over the image itself, which need the complete file. */
export function signaturesOfImage(artifact: Artifact): readonly Signature[] {
  const urls = artifact.locations.map(({ url }) => url);
  return signaturesOf(artifact).filter(({ signs }) => urls.includes(signs));
}

/** Returns signatures over a document that lists one of the digests. */
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
 * Throws a Failure if the index has no signature for the file, or only one by an unpinned key, so that this fails
 * before the download.
 */
export async function requireSignature(
  source: Source,
  artifact: Artifact,
  requirement: SignatureRequirement,
): Promise<void> {
  if (signaturesOfDocuments(artifact).length + signaturesOfImage(artifact).length === 0) {
    throw new Failure(
      "the index has no vendor signature of this image or of a checksum document that lists it",
      EXIT.failure,
    );
  }
  for (const signature of signaturesOfImage(artifact)) {
    const { keys, pinned } = await keysFor(source, artifact, { signature, requirement });
    if (!pinned) throw unpinned(keys.map(fingerprintOf));
  }
}

/**
 * An attacker who changes an image in the index can change its key, too, so a key from the index is not trusted: the
 * user, a key file or a key server's address must name it.
 */
function unpinned(fingerprints: readonly string[]): Failure {
  const [first, ...more] = fingerprints;
  const which = more.length === 0
    ? `${first} is the vendor's key`
    : `one of ${fingerprints.join(", ")} is the vendor's key`;
  return new Failure(
    `only the index claims that ${which}; compare it with the vendor's publications and pass --fingerprint ` +
      `${more.length === 0 ? first : "<hex>"}, or the vendor's key as --key`,
    EXIT.failure,
  );
}

/** Verifies the signatures that do not need the image file. */
export async function checkDocumentSignatures(
  source: Source,
  artifact: Artifact,
  requirement: SignatureRequirement,
): Promise<readonly SignedBy[]> {
  const found: SignedBy[] = [];
  for (const signature of signaturesOfDocuments(artifact)) {
    const { keys, pinned } = await keysFor(source, artifact, { signature, requirement });
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
  { requirement, path }: { requirement: SignatureRequirement; path: string },
): Promise<readonly SignedBy[]> {
  const found: SignedBy[] = [];
  for (const signature of signaturesOfImage(artifact)) {
    const { keys, pinned } = await keysFor(source, artifact, { signature, requirement });
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
  { signature: { key_url }, requirement }: { signature: Signature; requirement: SignatureRequirement },
): Promise<{ keys: Keys; pinned: boolean }> {
  const in_address = requirement.key === null ? pinIn(key_url ?? "") : null;
  const pins = requirement.fingerprints.length > 0
    ? requirement.fingerprints
    : in_address === null
    ? null
    : [in_address];
  if (requirement.key !== null) return { keys: await readKeys("the key file", requirement.key, pins), pinned: true };
  if (key_url === null || key_url === undefined) {
    throw new Failure("the index has no URL of the vendor's key; pass --key", EXIT.failure);
  }
  return { keys: await readKeys(key_url, await source.document(key_url, artifact), pins), pinned: pins !== null };
}

/** Returns the fingerprint in a key server's URL, the only pin that an index can have. */
export function pinIn(key_url: string): string | null {
  return /[?&]search=0x([0-9a-f]{64}|[0-9a-f]{40})(?:&|$)/i.exec(key_url)?.[1]?.toUpperCase() ?? null;
}

/** Returns the documents that a mirror copies, so that these checks work from the mirror. */
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
