// Computes the floating IPs that a router may have. A document that failed, or that the agent still applies, may
// already have added its addresses to the router. So an address is gone only when a document without it has been
// applied.
import type { NetworkDocument } from "../../src/contract/network-document.ts";

/** A floating IP of a NIC of this node. */
export type NicAddress = { readonly nic_id: string; readonly address: string };

export function floatingIpsOf({ local_nics }: NetworkDocument): NicAddress[] {
  return local_nics.flatMap(({ nic_id, floating_ips }) => floating_ips.map((address) => ({ nic_id, address })));
}

/**
 * Returns the floating IPs that the router may have once the agent begins to apply a document; null if `before` is
 * null.
 * @param before the floating IPs that the router may already have; null if they are not known
 */
export function withFloatingIps(before: readonly NicAddress[] | null, document: NetworkDocument): NicAddress[] | null {
  if (before === null) return null;
  // The agent applies a failed document again and again, so each address is kept once.
  const key = ({ nic_id, address }: NicAddress) => `${nic_id} ${address}`;
  return [...new Map([...before, ...floatingIpsOf(document)].map((each) => [key(each), each])).values()];
}
