// Keeps the floating IPs that are bound to NICs of this node. If a floating IP has two bindings, the binding with the
// higher generation is current.
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import type { Blueprint } from "../src/contract/job.ts";
import type { NetworkDocument } from "../src/contract/network-document.ts";
import type { AddressBinding, AddressRelease } from "./driver.ts";

/** The bindings, by the id of the floating IP. */
export type Bindings = Readonly<Record<string, AddressBinding>>;

export type BindingStore = {
  /**
   * Replaces the bindings by the result of `next`. The result is on disk when the promise resolves. If the promise
   * rejects, the earlier bindings are valid, so a repeated change is written again.
   */
  change(next: (bindings: Bindings) => Bindings): Promise<void>;
};

export type AddressBindings = {
  bind(binding: AddressBinding): Promise<void>;
  release(release: AddressRelease): Promise<void>;
  /** Removes the bindings of these NICs, which are gone. */
  dropNics(nic_ids: readonly string[]): Promise<void>;
};

/**
 * Returns whether a network document gives the NIC to this node. The VM may not have the NIC yet: a VM gets a new NIC
 * at its next start.
 */
export function isLocalNic(documents: readonly NetworkDocument[], id: string): boolean {
  return documents.some(({ local_nics }) => local_nics.some(({ nic_id }) => nic_id === id));
}

/** Returns the NICs of a blueprint in the form in which the record of a VM has them. */
export function nicsOf(nics: Blueprint["nics"]) {
  return nics.map(({ id, name, mac, primary_ipv4, primary_ipv6, vpc_id, subnet_id }) => {
    const addresses = [primary_ipv4, primary_ipv6].filter((address) => address !== null);
    return { id, name, mac, addresses, vpc_id, subnet_id };
  });
}

export function addressBindings(store: BindingStore, hasNic: (nic_id: string) => boolean): AddressBindings {
  return {
    bind: async (binding) => {
      if (binding.nic_id !== null && !hasNic(binding.nic_id)) {
        throw new Failure(`NIC ${binding.nic_id} does not exist`, EXIT.not_found);
      }
      await store.change((bindings) =>
        (bindings[binding.floating_ip_id]?.generation ?? -Infinity) >= binding.generation
          ? bindings
          : { ...bindings, [binding.floating_ip_id]: binding }
      );
    },
    release: ({ floating_ip_id, nic_id, generation }) =>
      store.change((bindings) => {
        const { [floating_ip_id]: bound, ...others } = bindings;
        if (bound === undefined || nic_id !== null && bound.nic_id !== nic_id) return bindings;
        return generation === null || bound.generation <= generation ? others : bindings;
      }),
    dropNics: (nic_ids) => {
      const gone = new Set<string | null>(nic_ids);
      return store.change((bindings) =>
        Object.fromEntries(Object.entries(bindings).filter(([, { nic_id }]) => !gone.has(nic_id)))
      );
    },
  };
}
