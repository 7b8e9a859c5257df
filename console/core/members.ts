// Joins the objects of a project: instances with their NICs and their placement groups. A project can have 10,000
// instances, so each function reads each object once.
import type { Instance, Nic } from "../../src/contract/instance.ts";

/** Names by id. */
export type Names = ReadonlyMap<string, string>;

export function namesOf(objects: readonly { readonly id: string; readonly name: string }[]): Names {
  return new Map(objects.map(({ id, name }) => [id, name]));
}

export type NamedNic = Nic & {
  /** The name of the instance, or its id while its name is not known. */
  readonly instance: string;
};

/** web2 comes before web10. */
const { compare } = new Intl.Collator("en", { numeric: true });

/** Adds the names of the instances. The result is in the order of the instances' names, then of the NICs' names. */
export function namedNics(nics: readonly Nic[], names: Names): readonly NamedNic[] {
  return nics.map((nic) => ({ ...nic, instance: names.get(nic.instance_id) ?? nic.instance_id }))
    .toSorted((a, b) => compare(a.instance, b.instance) || compare(a.name, b.name));
}

/** Returns the number of instances in each placement group that has instances. */
export function memberCounts(instances: readonly Instance[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { placement_group_id: group } of instances) {
    if (group !== null) counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  return counts;
}
