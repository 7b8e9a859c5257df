// What was seen of each signed document: an issue signed before the last accepted one is a rollback and refused, one that
// has not been renewed for longer than its vendor usually takes raises an alarm. The state lies in the same folder as the
// tree it belongs to and is switched together with it (publish/), so it is never ahead of what was published; what else
// must be remembered and has no place in the tree lies in it too.
import { z } from "zod";
import { VendorFault } from "../fault.ts";

const Seen = z.object({ signed_at: z.string(), sha256: z.string() });
export const VendorTrust = z.object({
  /** By series. */
  documents: z.record(z.string(), Seen).default({}),
  /** Pinned keys as last fetched, by address, in base64: a key server that is down does not switch verification off. */
  keys: z.record(z.string(), z.string()).default({}),
  /** When builds were first seen that wait for their vault (build/departed.ts). */
  departed: z.record(z.string(), z.string()).default({}),
});
export type VendorTrust = z.infer<typeof VendorTrust>;
export const TrustState = z.object({ vendors: z.record(z.string(), VendorTrust).default({}) });
export type TrustState = z.infer<typeof TrustState>;

export const NO_TRUST: VendorTrust = { documents: {}, keys: {}, departed: {} };

const DAY_MS = 86_400_000;

export type Issue = { readonly series: string; readonly signed_at: Date; readonly sha256: string };

/** @throws VendorFault untrusted on a rollback */
export function refuseRollback(trust: VendorTrust, issue: Issue): void {
  const seen = trust.documents[issue.series];
  if (seen === undefined) return;
  const before = new Date(seen.signed_at);
  if (issue.signed_at < before) {
    const dates = `signed ${issue.signed_at.toISOString()}, one of ${seen.signed_at} was seen before`;
    throw new VendorFault("untrusted", `${issue.series}: an older document came back (${dates})`);
  }
}

export function isStale(issue: Issue, days: number, now: Date): boolean {
  return now.getTime() - issue.signed_at.getTime() > days * DAY_MS;
}

/** @returns the state with the issue in it; never an older one than it held */
export function withIssue(trust: VendorTrust, issue: Issue): VendorTrust {
  const before = trust.documents[issue.series];
  if (before !== undefined && issue.signed_at < new Date(before.signed_at)) return trust;
  const seen = { signed_at: issue.signed_at.toISOString(), sha256: issue.sha256 };
  return { ...trust, documents: { ...trust.documents, [issue.series]: seen } };
}
