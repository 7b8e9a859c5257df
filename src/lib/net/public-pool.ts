// The pools that public addresses come from: the two fixed ones, and those of external subnets. An external subnet on the
// block of a fixed pool shares that pool. Document 3, Limits; document 4, section 5.
import { type Fault, fault } from "../../contract/fault.ts";
import type { AddressFamily } from "../../contract/enums.ts";
import { PUBLIC_BLOCKS } from "../../contract/limits.ts";

/** The fixed pool of a family. */
export function publicPool(family: AddressFamily): string {
  return `public:${family}`;
}

/** Where the addresses of an external subnet's block are. `block` is canonical text. */
export function externalPool(network_id: string, family: AddressFamily, block: string): string {
  return isShared(family, block) ? publicPool(family) : `external:${network_id}:${family}`;
}

/**
 * The lock that an allocation takes by itself. Who asks several pools names the locks of all: named locks are taken in
 * order, so that two that ask the same pools in opposite order do not wait for each other.
 */
export function poolLock(pool_id: string): string {
  return `pool:${pool_id}`;
}

/** True for the block of the fixed pool itself. */
export function isShared(family: AddressFamily, block: string): boolean {
  return block === PUBLIC_BLOCKS[family];
}

/** Document 4, 0.2. @param what whose addresses have run out */
export function poolExhausted(what: string): Fault {
  return fault("conflict", `${what} has no free address`, { error_code: "PoolExhausted" });
}
