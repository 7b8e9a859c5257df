// Builds the names of a subnet's lock and of its address pools. An allocation in a subnet needs the lock and a pool.
import type { AddressFamily } from "../../contract/enums.ts";

/**
 * Returns the name of a subnet's lock. Allocations in the subnet take the lock shared; the removal of the subnet takes
 * the lock exclusively.
 */
export function subnetLock(subnet_id: string): string {
  return `subnet:${subnet_id}`;
}

/** Returns the name of the subnet's pool of one family. */
export function subnetPool(subnet_id: string, family: AddressFamily): string {
  return `subnet:${subnet_id}:${family}`;
}
