// A commit that changes the network documents of a VPC adds a row to vpc_change. The VPC's generation is the number of
// rows that were ever added. Commits never update a row, so commits on one VPC do not wait for each other
// (docs/networking.md, "Network documents").
import { insert } from "../engine/effects.ts";
import type { ChildWrite } from "../engine/types.ts";

type InVpc = { readonly vpc_id: string };

/** Returns the row that increases the generation of the VPC by one. */
export function vpcChanged({ vpc_id }: InVpc): ChildWrite {
  return insert("vpc_change", { vpc_id });
}

/** Returns one row for each VPC of these NICs. */
export function vpcsChanged(nics: readonly InVpc[]): readonly ChildWrite[] {
  return [...new Set(nics.map(({ vpc_id }) => vpc_id))].map((vpc_id) => vpcChanged({ vpc_id }));
}
