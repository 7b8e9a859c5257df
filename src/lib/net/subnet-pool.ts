// The lock and the pools of a subnet. An allocation in a subnet needs both.
import type { AddressFamily } from "../../contract/enums.ts";

/** Shared by allocations in the subnet; exclusive for its removal. */
export function subnetLock(subnet_id: string): string {
  return `subnet:${subnet_id}`;
}

/** Returns the pool of one family. */
export function subnetPool(subnet_id: string, family: AddressFamily): string {
  return `subnet:${subnet_id}:${family}`;
}
