// Remembers the floating IPs that this node has released. If the node sent a poll before a release ended, the answer
// can contain a document that still gives the address to the NIC. The document's generation does not always show this,
// because the stored document can be even older. If the node applied the document, it would answer for an address that
// another node may have by now.
import type { NetworkDocument } from "../../src/contract/network-document.ts";
import { floatingIpsOf, type NicAddress } from "./router-addresses.ts";

/** Selects the addresses of one NIC, or of all NICs. */
type Selects = (address: NicAddress) => boolean;

export type ReleasedAddresses = {
  /** Records that a release of the selected addresses has ended. */
  ended(selects: Selects): void;
  /** Records that a poll was answered. The next documents belong to this answer. */
  answered(sent_ms: number): void;
  /**
   * Stores and applies a document with `work`. Returns null, without a call of `work`, if the document gives a NIC an
   * address that was released after the poll was sent. The answer to the next poll has a newer document.
   */
  unlessOutdated<T>(document: NetworkDocument, work: () => Promise<T>): Promise<T | null>;
  /** Returns the VPC whose document gives a selected address and is now being stored or applied. */
  vpcBeingApplied(selects: Selects): string | undefined;
};

export function createReleasedAddresses(monotonicMs: () => number): ReleasedAddresses {
  let released: { readonly selects: Selects; readonly ended_ms: number }[] = [];
  const working = new Map<string, NetworkDocument>();

  return {
    ended: (selects) => void released.push({ selects, ended_ms: monotonicMs() }),
    answered: (sent_ms) => void (released = released.filter(({ ended_ms }) => ended_ms >= sent_ms)),
    unlessOutdated: async (document, work) => {
      if (floatingIpsOf(document).some((each) => released.some(({ selects }) => selects(each)))) return null;
      working.set(document.vpc_id, document);
      try {
        return await work();
      } finally {
        working.delete(document.vpc_id);
      }
    },
    vpcBeingApplied: (selects) => [...working].find(([, document]) => floatingIpsOf(document).some(selects))?.[0],
  };
}
