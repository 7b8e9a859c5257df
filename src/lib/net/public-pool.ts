// The pools of public addresses: two fixed pools and the pools of external subnets. An external subnet with the block of a
// fixed pool shares that pool. docs/networking.md.
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
 * Returns the lock that an allocation takes. A unit with several pools names the locks of all: named locks are taken in
 * order, so that two units with the same pools in opposite order do not deadlock.
 */
export function poolLock(pool_id: string): string {
  return `pool:${pool_id}`;
}

/** Whether a block is the block of the fixed pool. */
export function isShared(family: AddressFamily, block: string): boolean {
  return block === PUBLIC_BLOCKS[family];
}

/** @param what the pool without free addresses, as text */
export function poolExhausted(what: string): Fault {
  return fault("conflict", `${what} has no free address`, { error_code: "PoolExhausted" });
}
