// Remembers the floating IPs that this node has released. An answer to a poll that the node sent before the end of a
// release can contain a document from before the release, which gives the address to the NIC. This document can be
// newer than the stored one: then its generation does not show that it is outdated. If the node applied it, the node
// would answer for an address that another node may have by now.
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
