// Resolves one image: its HTTP metadata, its hash from the vendor's document, and the signatures that exist for it. If
// a response about a current image cannot be used, the image keeps the values that the previous tree has for its URL.
import { isFault, messageOf, VendorFault } from "../fault.ts";
import { asDigest } from "../../src/lib/crypto/digest-hex.ts";
import type { LocationKind } from "../../src/lib/image-index/values.ts";
import type { Artifact, Digest, Signature } from "../tree/model.ts";
import type { ArtifactDraft, Checksum, DetachedSignature, Visit } from "../vendor.ts";
import type { Head, Web } from "../web/web.ts";
import { isUnusable } from "./policy.ts";

export type ArtifactSetting = {
  readonly visit: Visit;
  readonly web: Web;
  readonly kind: LocationKind;
  /** Returns the artifact with this URL in the previous tree. */
  readonly previous: (url: string) => Artifact | undefined;
  /** True if the previous tree has current builds of this release, which can be kept. */
  readonly release_known: boolean;
};

/**
 * Returns the artifact to publish for an image.
 * @throws VendorFault for a fault of a document, or with one of these kinds:
 * - `gone`: the image does not exist.
 * - `not_recorded`: no response is recorded for the image.
 * - `held`: the sources of the image contradict each other, or the image of a known release has no readable hash and no
 *   hash in the previous tree.
 */
export async function resolveArtifact(draft: ArtifactDraft, setting: ArtifactSetting): Promise<Artifact> {
  const before = setting.previous(draft.url);
  const head = await headOf(draft, before, setting);
  if (head.size !== null && typeof draft.size === "number" && head.size !== draft.size) {
    throw new VendorFault("held", `${draft.url}: has ${head.size} bytes, but the vendor's document says ${draft.size}`);
  }
  const digests = await digestsOf(draft, before, setting);
  const signatures = await signaturesOf(draft, before, setting);
  const { last_modified, etag } = head;
  const http = last_modified === null && etag === null ? null : { last_modified, etag };
  return {
    variant: draft.variant,
    default_variant: draft.default_variant,
    arch: draft.arch,
    format: draft.format,
    compression: draft.compression,
    firmware: [...(draft.firmware ?? [])],
    datasources: [...(draft.datasources ?? [])],
    ssh_key_injection: draft.ssh_key_injection ?? null,
    size: head.size ?? draft.size ?? before?.size ?? null,
    locations: [{ url: draft.url, kind: setting.kind, redirects_off_host: head.redirects_off_host }],
    integrity: digests.length + signatures.length === 0 && http === null ? null : { digests, signatures, http },
  };
}

/**
 * Returns whether, after this error, the builder may omit a value or keep the value of the previous tree. Always
 * returns false for an archive, because the builder never reads archived builds again.
 */
function canBeKept(error: unknown, { kind }: ArtifactSetting): boolean {
  return kind !== "vault" && isUnusable(error);
}

type KnownHead = Omit<Head, "redirects_off_host"> & { readonly redirects_off_host: boolean | null };

async function headOf(
  draft: ArtifactDraft,
  before: Artifact | undefined,
  setting: ArtifactSetting,
): Promise<KnownHead> {
  try {
    return await setting.web.head(draft.url);
  } catch (error) {
    if (!canBeKept(error, setting)) throw error;
    setting.visit.warn(messageOf(error));
    return {
      size: before?.size ?? null,
      last_modified: before?.integrity?.http?.last_modified ?? null,
      etag: before?.integrity?.http?.etag ?? null,
      redirects_off_host: before?.locations[0]?.redirects_off_host ?? null,
    };
  }
}

async function digestsOf(
  draft: ArtifactDraft,
  before: Artifact | undefined,
  setting: ArtifactSetting,
): Promise<Digest[]> {
  if (draft.checksum === null) return [];
  try {
    return [await digestOf(draft.url, draft.checksum, setting.visit)];
  } catch (error) {
    const is_optional = setting.kind !== "vault" && isFault(error, "gone");
    if (!is_optional && !canBeKept(error, setting)) throw error;
    const kept = before?.integrity?.digests ?? [];
    // If the previous tree has the release, an image with a published hash must have a hash in this tree, new or kept.
    if (kept.length === 0 && setting.release_known) throw new VendorFault("held", messageOf(error));
    setting.visit.warn(
      `${messageOf(error)}; ${
        kept.length > 0 ? "the digest of the previous tree stays" : "published without a digest"
      }`,
    );
    return kept;
  }
}

async function digestOf(url: string, checksum: Checksum, visit: Visit): Promise<Digest> {
  if ("vendor_document" in checksum) {
    const { algorithm, vendor_document } = checksum;
    const value = asDigest(checksum.value, algorithm);
    if (value === null) {
      throw new VendorFault("unreadable", `${vendor_document}: does not contain a ${algorithm} hash for ${url}`);
    }
    return { algorithm, value, source: { url: vendor_document, format: "vendor_document", filename: null } };
  }
  const { document, filename } = checksum;
  const value = (await visit.checksums(document)).get(filename ?? "");
  if (value === undefined) throw new VendorFault("unreadable", `${document.url}: does not list ${filename}`);
  if (typeof checksum.expect === "string" && checksum.expect.toLowerCase() !== value) {
    throw new VendorFault("held", `${document.url}: the hash of ${filename} differs from the vendor's own list`);
  }
  const format = checksum.published_format ?? document.format;
  const source = { url: document.url, format, filename: format === "bare" ? null : filename };
  return { algorithm: document.algorithm, value, source };
}

async function signaturesOf(
  draft: ArtifactDraft,
  before: Artifact | undefined,
  setting: ArtifactSetting,
): Promise<Signature[]> {
  const wanted: Signature[] = [];
  if (draft.checksum !== null && "document" in draft.checksum) {
    const { url, signature } = draft.checksum.document;
    if (signature?.kind === "pgp_detached") wanted.push(detached(signature, url));
    else if (signature?.kind === "pgp_clearsigned" && signature.twin === undefined) {
      wanted.push({ url, kind: "pgp_clearsigned", signs: url, key_url: signature.key?.key_url ?? null });
    }
  }
  if (draft.signature !== undefined && draft.signature !== null) wanted.push(detached(draft.signature, draft.url));
  const found = await Promise.all(wanted.map((signature) => existing(signature, before, setting)));
  return found.flatMap((signature) => signature ?? []);
}

function detached({ url, key }: DetachedSignature, signs: string): Signature {
  return { url, kind: "pgp_detached", signs, key_url: key?.key_url ?? null };
}

async function existing(
  signature: Signature,
  before: Artifact | undefined,
  setting: ArtifactSetting,
): Promise<Signature | null> {
  try {
    return await setting.visit.exists(signature.url) ? signature : null;
  } catch (error) {
    if (!canBeKept(error, setting)) throw error;
    setting.visit.warn(messageOf(error));
    return before?.integrity?.signatures.find(({ url }) => url === signature.url) ?? null;
  }
}
