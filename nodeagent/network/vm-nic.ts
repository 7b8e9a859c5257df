// Describes the NICs of virtual machines for the network of a node.

/** A NIC of a VM on this node. */
export type VmNic = { readonly id: string; readonly mac: string; readonly vpc_id: string };

/** A NIC for which a job waits. */
export type WantedNic = Pick<VmNic, "id" | "vpc_id">;

/** Returns the VPCs of these NICs. */
export function vpcsOf(nics: readonly VmNic[]): ReadonlySet<string> {
  return new Set(nics.map(({ vpc_id }) => vpc_id));
}
