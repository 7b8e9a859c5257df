// Fetches and verifies the vendors' documents. Other code gets documents only from here, so it never parses unverified
// bytes of a document that must be signed.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { isFault, messageOf, VendorFault } from "../fault.ts";
import { clearSignedText } from "../parse/clear-signed.ts";
import { isStale, type Issue, refuseRollback, type VendorTrust, withIssue } from "../signatures/trust.ts";
import { pinnedKeys, type Verified, verifyClearSigned, verifyDetached } from "../signatures/verify.ts";
import type { DocumentOptions, DocumentSignature, SigningKey } from "../vendor.ts";
import type { Web } from "../web/web.ts";
import type { Notes, SignatureMode } from "./report.ts";

export type Documents = {
  text(url: string, options?: DocumentOptions): Promise<string>;
  /** Returns the trust state to write after all checks. */
  trust(): VendorTrust;
};
type Setting = {
  readonly web: Web;
  readonly signatures: SignatureMode;
  readonly before: VendorTrust;
  readonly notes: Notes;
  readonly now: Date;
};

/** The text of a document. `issue` identifies the version of the document, and is null if no signature was verified. */
type Reading = { readonly text: string; readonly issue: Omit<Issue, "series"> | null };

export function openDocuments(setting: Setting): Documents {
  const { web, signatures, notes, now } = setting;
  const read = new Map<string, Promise<Reading>>();
  let trust = setting.before;
  return {
    text: async (url, options = {}) => {
      const { text, issue } = await reading(url, options);
      if (issue !== null) accept({ ...issue, series: options.series ?? url }, options.stale_after_days);
      return text;
    },
    trust: () => trust,
  };

  function reading(url: string, options: DocumentOptions): Promise<Reading> {
    // The text of a large document is not kept, because it would double the memory of a run. The caller parses the text
    // once.
    if (options.bytes_max !== undefined) return readOnce(url, options);
    const key = readingKey(url, options.signature);
    const before = read.get(key);
    if (before !== undefined) return before;
    const made = readOnce(url, options);
    read.set(key, made);
    return made;
  }

  async function readOnce(url: string, options: DocumentOptions): Promise<Reading> {
    const { signature } = options;
    if (signature === undefined) return { text: decode(url, await web.get(url, options)), issue: null };
    const verified = signatures === "off" ? null : await verify(url, options, signature);
    if (verified === null) return { text: await unverified(url, options, signature), issue: null };
    const { bytes, signed_at } = verified;
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return { text: decode(url, bytes), issue: { signed_at, sha256 } };
  }

  async function unverified(url: string, options: DocumentOptions, signature: DocumentSignature): Promise<string> {
    const text = decode(url, await web.get(url, options));
    return signature.kind === "pgp_clearsigned" && signature.twin === undefined ? clearSignedText(url, text) : text;
  }

  /**
   * Verifies a document. Returns null if the signature could not be checked and the mode allows unchecked documents.
   */
  async function verify(url: string, options: DocumentOptions, signature: DocumentSignature): Promise<Verified | null> {
    const series = options.series ?? url;
    const keys = await keysOrNull(url, signature.key);
    if (keys === null) return null;
    if (signature.kind === "pgp_clearsigned") {
      const signed_url = signature.twin ?? url;
      // A document without a clear-signed copy (twin) is itself clear-signed. If such a document is missing, the fault
      // is "gone", not a signature fault.
      const document = signature.twin === undefined
        ? await web.get(url, options)
        : await signatureOf(series, signed_url, () => web.get(signed_url, options));
      return document === null ? null : await verifyClearSigned({ what: signed_url, document, keys, now });
    }
    const document = await web.get(url, options);
    const made = await signatureOf(series, signature.url, () => web.get(signature.url));
    return made === null ? null : await verifyDetached({ what: url, document, signature: made, keys, now });
  }

  /**
   * Fetches a signature. Returns null if the signature is not available and the mode allows unsigned documents. Throws
   * a fault if an earlier run saw the signature and the vendor no longer serves it: an attacker could have removed it.
   */
  async function signatureOf<T>(series: string, url: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      if (!isFault(error, "gone", "not_recorded", "refused")) throw error;
      if (setting.before.documents[series] !== undefined && !isFault(error, "not_recorded")) {
        throw new VendorFault(
          "untrusted",
          `${url}: the signature existed in an earlier run and is missing now: ${messageOf(error)}`,
        );
      }
      return unchecked(url, error);
    }
  }

  function unchecked(what: string, error: unknown): null {
    if (signatures === "require") {
      const kind = isFault(error, "unverifiable") ? "unverifiable" : "untrusted";
      throw new VendorFault(kind, `${what}: signature cannot be checked: ${messageOf(error)}`);
    }
    notes.warn(`${what}: signature not checked: ${messageOf(error)}`);
    return null;
  }

  async function keysOrNull(url: string, key: SigningKey | null) {
    try {
      return await keysOf(key);
    } catch (error) {
      if (isFault(error, "untrusted", "unsafe")) throw error;
      return unchecked(`${url}: its key`, error);
    }
  }

  async function keysOf(key: SigningKey | null) {
    if (key === null || key.fingerprints.length === 0) throw new VendorFault("unverifiable", "no key is pinned");
    try {
      const bytes = await web.get(key.key_url);
      const keys = await pinnedKeys(key.key_url, bytes, key.fingerprints);
      trust = { ...trust, keys: { ...trust.keys, [key.key_url]: Buffer.from(bytes).toString("base64") } };
      return keys;
    } catch (error) {
      const kept = trust.keys[key.key_url];
      if (kept === undefined || isFault(error, "untrusted")) throw error;
      notes.warn(`${key.key_url}: ${messageOf(error)}; using the key from an earlier run`);
      return pinnedKeys(key.key_url, Buffer.from(kept, "base64"), key.fingerprints);
    }
  }

  function accept(issue: Issue, stale_after_days: number | undefined): void {
    refuseRollback(setting.before, issue);
    if (stale_after_days !== undefined && isStale(issue, stale_after_days, now)) {
      notes.alarm(
        `${issue.series}: frozen: signed ${issue.signed_at.toISOString()} and not renewed for ${stale_after_days} days`,
      );
    }
    trust = withIssue(trust, issue);
  }
}

/**
 * Returns the key under which the text of a document is remembered. The key contains the signature that the caller
 * requires. So a caller that requires a signature never gets a text that was read without this requirement.
 */
export function readingKey(url: string, signature: DocumentSignature | null | undefined): string {
  return JSON.stringify([url, signature ?? null]);
}

function decode(url: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new VendorFault("unreadable", `${url}: is not UTF-8`);
  }
}
