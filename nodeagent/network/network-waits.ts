// Waits until the networks that a VM needs have been applied. No wait blocks if the driver carries no packets or the
// server sends no documents.
import { setTimeout as sleep } from "node:timers/promises";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import type { LocalNic, NetworkDocument } from "../../src/contract/network-document.ts";
import type { DocumentStore } from "./document-store.ts";
import type { ReleasedAddresses } from "./released-addresses.ts";
import type { NicAddress } from "./router-addresses.ts";
import type { WantedNic } from "./vm-nic.ts";

/** The result of applying the newest stored document of a VPC. */
export type Outcome = {
  readonly generation: number;
  readonly problem: string | null;
  /**
   * The floating IPs that the router may have: the floating IPs of the last applied document, and of each later
   * document that the agent began to apply. Null until the agent has applied a document after its start.
   */
  readonly floating_ips: readonly NicAddress[] | null;
};

/** The NIC that loses a floating IP. If `nic_id` is null, every NIC loses it. `vpc_id` is null if it is not known. */
export type ReleasedFrom = { readonly nic_id: string | null; readonly vpc_id: string | null };

export type NetworkWaits = {
  /** Waits until the applied documents contain these NICs. Throws after the limit, and at once if the agent stops. */
  untilApplied(wanted: readonly WantedNic[], signal: AbortSignal): Promise<void>;
  /** Waits at most ROUTER_WAIT_MS for the routers of these VPCs, so that a VM that arrives loses few packets. */
  untilRouted(vpc_ids: readonly string[], signal: AbortSignal): Promise<void>;
  /** Waits at most FLOATING_IP_WAIT_MS until an applied document gives a NIC the floating IP. */
  floatingIpApplied(nic_id: string | null, floating_ip: string, signal: AbortSignal): Promise<void>;
  /**
   * Waits until the applied documents no longer give the NIC the floating IP. Afterwards no document from before the
   * release is applied. Throws after RELEASE_WAIT_MS, because the node may then still answer for the address.
   */
  floatingIpReleased(from: ReleasedFrom, floating_ip: string, signal: AbortSignal): Promise<void>;
};

export type NetworkWaitsOptions = {
  readonly store: DocumentStore;
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly released: Pick<ReleasedAddresses, "ended" | "vpcBeingApplied">;
  /** Whether documents arrive and packets pass. */
  readonly isUsed: () => boolean;
  readonly wait_limit_ms?: number;
  readonly release_limit_ms?: number;
};

/** Time limit for a NIC to appear in an applied document. The control plane sends the document when the job begins. */
const WAIT_LIMIT_MS = 60_000;
/** Time limit for the document with a floating IP. The document usually arrives before the job. */
const FLOATING_IP_WAIT_MS = 2_000;
/**
 * Time limit for the document without a floating IP. The document arrives when the job begins. If the agent cannot
 * apply it, the agent retries.
 */
const RELEASE_WAIT_MS = 20_000;
/** Time limit for the routers of a VM that arrives from another node. */
const ROUTER_WAIT_MS = 10_000;
/** Pause between checks whether a document was applied. */
const CHECK_MS = 20;

export function createNetworkWaits(options: NetworkWaitsOptions): NetworkWaits {
  const { store, outcomes, released, isUsed, wait_limit_ms = WAIT_LIMIT_MS } = options;
  const { release_limit_ms = RELEASE_WAIT_MS } = options;

  function isApplied({ id, vpc_id }: WantedNic): boolean {
    const document = store.get(vpc_id);
    const outcome = outcomes.get(vpc_id);
    return document !== undefined && outcome?.generation === document.generation && outcome.problem === null &&
      document.local_nics.some(({ nic_id }) => nic_id === id);
  }

  /** Waits until `has` returns true, at most for the limit. */
  async function waited(limit_ms: number, signal: AbortSignal, has: () => boolean): Promise<void> {
    const end_ms = performance.now() + limit_ms;
    while (isUsed() && !has() && performance.now() < end_ms) await sleep(CHECK_MS, undefined, { signal });
  }

  return {
    untilApplied: async (wanted, signal) => {
      await waited(wait_limit_ms, signal, () => wanted.every(isApplied));
      const missing = isUsed() ? wanted.find((nic) => !isApplied(nic)) : undefined;
      if (missing === undefined) return;
      const problem = outcomes.get(missing.vpc_id)?.problem ?? "its document has not arrived from the control plane";
      throw new Failure(`the network of NIC ${missing.id} is not ready on this node: ${problem}`, EXIT.failure);
    },
    untilRouted: (vpc_ids, signal) =>
      waited(ROUTER_WAIT_MS, signal, () => vpc_ids.every((vpc_id) => outcomes.get(vpc_id)?.problem === null)),
    floatingIpApplied: (nic_id, floating_ip, signal) =>
      waited(
        FLOATING_IP_WAIT_MS,
        signal,
        () =>
          store.all().some(({ vpc_id, local_nics }) =>
            local_nics.some((nic) =>
              nic.nic_id === nic_id && nic.floating_ips.includes(floating_ip) && isApplied({ id: nic.nic_id, vpc_id })
            )
          ),
      ),
    floatingIpReleased: async ({ nic_id, vpc_id: of_vpc }, floating_ip, signal) => {
      const isOfNic = (nic: Pick<LocalNic, "nic_id">) => nic_id === null || nic.nic_id === nic_id;
      const isReleased = (each: NicAddress) => isOfNic(each) && each.address === floating_ip;
      const isOwn = ({ vpc_id, local_nics }: NetworkDocument) => vpc_id === of_vpc || local_nics.some(isOfNic);
      const known = (vpc_id: string) => outcomes.get(vpc_id)?.floating_ips ?? null;
      /**
       * Returns a VPC whose router may have the address. After a start, the agent does not know the floating IPs of a
       * router until it has applied a document. Until then, the router counts as one that may have the address, unless
       * the NIC is in another VPC. Without this exception, a tenant whose network cannot be applied would delay the
       * releases of all tenants.
       */
      const vpcThatGives = () => {
        const gives = released.vpcBeingApplied(isReleased) ??
          [...outcomes.keys()].find((vpc_id) => known(vpc_id)?.some(isReleased));
        if (gives !== undefined) return gives;
        const documents = store.all();
        const possible = of_vpc !== null || documents.some(isOwn) ? documents.filter(isOwn) : documents;
        return possible.find(({ vpc_id }) => known(vpc_id) === null)?.vpc_id;
      };
      await waited(release_limit_ms, signal, () => vpcThatGives() === undefined);
      if (!isUsed()) return;
      const vpc_id = vpcThatGives();
      if (vpc_id === undefined) return released.ended(isReleased);
      const problem = outcomes.get(vpc_id)?.problem ?? "the document without the address has not arrived";
      throw new Failure(`this node has not released ${floating_ip}: ${problem}`, EXIT.failure);
    },
  };
}
