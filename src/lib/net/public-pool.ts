// Names the pools of public addresses: one fixed pool per family, and the pools of external subnets. An external subnet
// whose block equals a fixed pool's block uses that pool (docs/networking.md).
import { type Fault, fault } from "../../contract/fault.ts";
import type { AddressFamily } from "../../contract/enums.ts";
import { PUBLIC_BLOCKS } from "../../contract/limits.ts";

/** Returns the fixed pool of a family. */
export function publicPool(family: AddressFamily): string {
  return `public:${family}`;
}

/** Returns the pool of an external subnet's block. `block` is canonical text. */
export function externalPool(network_id: string, family: AddressFamily, block: string): string {
  return isShared(family, block) ? publicPool(family) : `external:${network_id}:${family}`;
}

/**
 * Returns the name of a pool's lock. A decision with several pools to choose from must name the locks of all these
 * pools. The commit takes named locks in sorted order, so two commits with the same pools do not deadlock.
 */
export function poolLock(pool_id: string): string {
  return `pool:${pool_id}`;
}

/** Returns whether a block is the block of the family's fixed pool. */
export function isShared(family: AddressFamily, block: string): boolean {
  return block === PUBLIC_BLOCKS[family];
}

/**
 * @param what - The name of the pool, for the error text.
 * @param family - The family that the request names. Absent if the request names no family.
 */
export function poolExhausted(what: string, family?: AddressFamily): Fault {
  const address = family === undefined ? "address" : `${family} address`;
  return fault("conflict", `${what} has no free ${address}`, { error_code: "PoolExhausted" });
}
