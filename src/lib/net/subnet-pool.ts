// The names of a subnet's lock and address pools. An allocation in a subnet needs both.
import type { AddressFamily } from "../../contract/enums.ts";

/**
 * Returns the name of a subnet's lock: allocations in the subnet take it shared, the removal of the subnet exclusively.
 */
export function subnetLock(subnet_id: string): string {
  return `subnet:${subnet_id}`;
}

/** Returns the name of the subnet's pool of one family. */
export function subnetPool(subnet_id: string, family: AddressFamily): string {
  return `subnet:${subnet_id}:${family}`;
}
