// Decides how long this node may run its NAT gateways (docs/networking.md, "Where NAT gateways run"). An answered poll
// renews the lease. The only exception is the first answered poll after a silence of NAT_GATEWAY_SILENCE_S. The kernel
// removes the public addresses of the gateways at the end of the lease, so the gateways also stop if the agent does not
// run.
import { NAT_GATEWAY_SILENCE_S } from "../../src/contract/limits.ts";
import type { NetworkDocument } from "../../src/contract/network-document.ts";

const LEASE_MS = NAT_GATEWAY_SILENCE_S * 1_000;
/**
 * If the last renewal is older than this, polls do not wait. For example, the agent has just started, or an answer was
 * lost.
 */
const OLD_MS = LEASE_MS / 3;
/**
 * The longest wait of the polls of a node with a gateway, in seconds. Whenever the agent stops, at least 30 s of the
 * lease are left. The lease begins when its poll is sent, and the answer comes up to 10 s later. The agent may stop
 * just before the answer to the next poll, which comes at most 20 s after the first answer: 10 s of waiting and 10 s of
 * delay.
 */
const POLL_WAIT_S = 10;
/** The shortest time between two renewals of the addresses in the kernel. Polls may follow each other fast. */
const RENEWAL_MS = 5_000;

export type GatewayLease = {
  /**
   * Records which gateways the newest document of a VPC contains: the node renews only these. Call it even if the node
   * cannot read or store the document. A null document means that the VPC is gone.
   */
  sent(vpc_id: string, document: unknown): void;
  /**
   * Records an answered poll. Returns what the kernel needs: nothing, a renewal, or a renewal after the lease had
   * ended.
   */
  answered(sent_ms: number): "nothing" | "lease" | "ended lease";
  /** Returns the public addresses of the document's gateways that the node may run, and for how many seconds. */
  of(document: NetworkDocument): { readonly addresses: readonly string[]; readonly left_s: number };
  /** Returns how many seconds the next poll may wait. `longest_s` is the wait of a node without gateways. */
  pollWaitS(longest_s: number, documents: readonly NetworkDocument[]): number;
};

export function createGatewayLease(monotonicMs: () => number): GatewayLease {
  const newest = new Map<string, ReadonlySet<unknown>>();
  /** When the last answered poll was sent. */
  let contact_ms = -Infinity;
  let until_ms = -Infinity;
  let renewed_ms = -Infinity;

  return {
    sent: (vpc_id, document) => void newest.set(vpc_id, new Set(gatewaysIn(document))),
    answered(sent_ms) {
      const now_ms = monotonicMs();
      // After a silence that lasted longer than a lease, this answer does not renew the lease. The control plane may
      // have given the gateways to another node after it read the documents of this answer. The next answer contains
      // the decision.
      const is_known = now_ms < contact_ms + LEASE_MS;
      contact_ms = sent_ms;
      if (!is_known) return "nothing";
      const has_ended = now_ms >= until_ms;
      until_ms = sent_ms + LEASE_MS;
      if (!has_ended && sent_ms < renewed_ms + RENEWAL_MS) return "nothing";
      renewed_ms = sent_ms;
      return has_ended ? "ended lease" : "lease";
    },
    of({ vpc_id, nat_gateways, external }) {
      const known = newest.get(vpc_id);
      const own = external === null ? [] : nat_gateways.map(({ public_address }) => public_address);
      return {
        addresses: own.filter((address) => known === undefined || known.has(address)),
        left_s: Math.max(0, Math.floor((until_ms - monotonicMs()) / 1_000)),
      };
    },
    pollWaitS(longest_s, documents) {
      if (documents.every(({ nat_gateways }) => nat_gateways.length === 0)) return longest_s;
      return until_ms - monotonicMs() < LEASE_MS - OLD_MS ? 0 : Math.min(longest_s, POLL_WAIT_S);
    },
  };
}

/** Returns the public addresses of the NAT gateways in a document, which may be malformed. */
function gatewaysIn(document: unknown): unknown[] {
  const { nat_gateways } = (document ?? {}) as { readonly nat_gateways?: unknown };
  if (!Array.isArray(nat_gateways)) return [];
  return nat_gateways.map((gateway: unknown) => (gateway as { public_address?: unknown } | null)?.public_address);
}
