// The sources of a public address: a fixed pool, an external subnet, or the external subnets of a network pool. A
// decision has one alternative per source; the commit applies the first alternative whose source has a free address.
import { type Fault, NOT_FOUND } from "../../src/contract/fault.ts";
import type { AddressFamily } from "../../src/contract/enums.ts";
import type { Labels } from "../../src/contract/labels.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { poolLock } from "../../src/lib/net/public-pool.ts";
import { labelsFault } from "../../src/lib/text/labels.ts";
import { nameFault } from "../../src/lib/text/resource-name.ts";
import { allocate, go, guard, lock, otherwise, refuse } from "../engine/effects.ts";
import type { Condition, Offsets, Out, Part } from "../engine/types.ts";

/** A pool from which an address can be allocated. */
export type AddressSource = {
  readonly pool_id: string;
  readonly family: AddressFamily;
  /** The external subnet, and the range of the pool that belongs to it; null for a fixed pool. */
  readonly network: { readonly id: string; readonly nic_tag: string; readonly within: Offsets } | null;
};

/** The fields of a message that creates an object with a public address. */
export type Addressed = {
  readonly silo_id: string;
  /**
   * The sources in the order in which the commit tries them. The first source with a free address provides the address.
   */
  readonly sources: readonly AddressSource[];
  /** The network pool that the request names and from which the sources come, or null. */
  readonly network_pool_id: string | null;
  /** The fault if no source has a free address, or if there is no source. */
  readonly refusal: Fault;
  /** The placeholder of the address, which the commit allocates. */
  readonly token: string;
};

/**
 * Returns the decision that creates an object, or refuses its name or its labels. The object gets an address of the
 * first source with a free address. `from` returns the new state and the parts for one source.
 */
export function fromFirst<S>(
  { sources, refusal, name, labels = {} }: Addressed & { readonly name: string; readonly labels?: Labels },
  from: (source: AddressSource) => { readonly next: S; readonly parts: readonly Part<S>[] },
): Out<S> {
  const wrong = nameFault(name) ?? labelsFault(labels);
  // A request without a usable source gets `refusal`, even if its name is also invalid.
  if (sources.length > 0 && wrong !== null) return refuse(wrong);
  let out: Out<S> | null = null;
  for (const source of sources.toReversed()) {
    const { next, parts } = from(source);
    out = go<S>(next, ...parts, ...(out === null ? [] : [otherwise<S>(out)]));
  }
  return out ?? refuse(refusal);
}

/**
 * Returns the conditions that allocate the address from the source. They also check in the commit that the silo may
 * still use the network. A delete of the network takes the same lock exclusively, so the two commits cannot overlap.
 */
export function allocateFrom({ pool_id, network }: AddressSource, of: Addressed): Condition[] {
  const { sources, silo_id, network_pool_id, refusal, token } = of;
  return [
    ...(sources.length > 1 ? [lock(poolLock(pool_id))] : []),
    ...(network === null ? [] : [
      lock(lockKey("external-subnet", network.id), true),
      guard("external_network_is_offered", { network_id: network.id, silo_id, network_pool_id }, NOT_FOUND),
    ]),
    allocate(pool_id, token, refusal, network?.within),
  ];
}
