// Handles the trust state: the last accepted version of each signed document, and other data that is not in the tree.
// In the code, `issue` is a version of a document. The builder refuses, as a rollback, a version that was signed before
// the last accepted one. A version that was signed longer ago than the vendor's module allows raises an alarm. The
// builder publishes the trust state with its tree (publish/), so the trust state is never newer than the tree.
import { z } from "zod";
import { VendorFault } from "../fault.ts";

const Seen = z.object({ signed_at: z.string(), sha256: z.string() });
export const VendorTrust = z.object({
  /** The last accepted version of each document, by series. */
  documents: z.record(z.string(), Seen).default({}),
  /** Pinned keys of earlier runs in base64, by URL. With them, verification works while a key server is down. */
  keys: z.record(z.string(), z.string()).default({}),
  /**
   * The first_seen times of builds of ended point releases. These builds have left the vendor's current folder, and are
   * not in the index's archive yet (build/departed.ts).
   */
  departed: z.record(z.string(), z.string()).default({}),
});
export type VendorTrust = z.infer<typeof VendorTrust>;
export const TrustState = z.object({ vendors: z.record(z.string(), VendorTrust).default({}) });
export type TrustState = z.infer<typeof TrustState>;

export const NO_TRUST: VendorTrust = { documents: {}, keys: {}, departed: {} };

const DAY_MS = 86_400_000;

export type Issue = { readonly series: string; readonly signed_at: Date; readonly sha256: string };

/** @throws VendorFault untrusted if this version of the document is older than the last accepted version */
export function refuseRollback(trust: VendorTrust, issue: Issue): void {
  const seen = trust.documents[issue.series];
  if (seen === undefined) return;
  const before = new Date(seen.signed_at);
  if (issue.signed_at < before) {
    const dates = `signed ${issue.signed_at.toISOString()}; an earlier run accepted a document of ${seen.signed_at}`;
    throw new VendorFault("untrusted", `${issue.series}: rollback to an older document (${dates})`);
  }
}

export function isStale(issue: Issue, days: number, now: Date): boolean {
  return now.getTime() - issue.signed_at.getTime() > days * DAY_MS;
}

/** Adds this version of the document to the state, unless the state has a newer version. */
export function withIssue(trust: VendorTrust, issue: Issue): VendorTrust {
  const before = trust.documents[issue.series];
  if (before !== undefined && issue.signed_at < new Date(before.signed_at)) return trust;
  const seen = { signed_at: issue.signed_at.toISOString(), sha256: issue.sha256 };
  return { ...trust, documents: { ...trust.documents, [issue.series]: seen } };
}
