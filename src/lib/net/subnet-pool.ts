// What the addresses of a subnet go by: its lock and its pools. Whoever puts something into a subnet needs both.
import type { AddressFamily } from "../../contract/enums.ts";

/** Who puts something into a subnet shares it; who removes the subnet holds it alone. */
export function subnetLock(subnet_id: string): string {
  return `subnet:${subnet_id}`;
}

/** The pool that addresses of one family are allocated from. */
export function subnetPool(subnet_id: string, family: AddressFamily): string {
  return `subnet:${subnet_id}:${family}`;
}
