// What each size class is for. Every spinning class but the largest, and every solid state class but one or two, only
// caches: a pool holds the data of one class. Document 2, Layout constraints.
import { type Disk, type SizeClass, sizeClasses } from "./size-classes.ts";

/** Within each list smallest first, then by name as plain text (c10 before c2). `storage` is empty when nothing is usable. */
export type DiskRoles = {
  readonly storage: readonly Disk[];
  readonly logs: readonly Disk[];
  readonly cache: readonly Disk[];
};

/** A solid state class of at least this many disks is too good for a log. */
const LOG_DISKS_BELOW = 5;

/** @param cache false leaves the disks of the smaller classes alone; a log is made all the same */
export function diskRoles(disks: readonly Disk[], cache: boolean): DiskRoles {
  const classes = sizeClasses(disks).map(inOrder).sort((a, b) => a.disks[0]!.size_bytes - b.disks[0]!.size_bytes);
  const spinning = classes.filter((one) => !one.solid_state);
  const solid = classes.filter((one) => one.solid_state);
  // A spinning class, however small, goes before any solid state one.
  const storage = spinning.pop() ?? solid.pop();
  const logs = solid[0] && solid[0].disks.length < LOG_DISKS_BELOW ? solid.shift() : undefined;
  return {
    storage: storage?.disks ?? [],
    logs: logs?.disks ?? [],
    cache: cache ? [...spinning, ...solid].flatMap((one) => one.disks) : [],
  };
}

function inOrder(one: SizeClass): SizeClass {
  const byName = (a: Disk, b: Disk) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  return { ...one, disks: one.disks.toSorted((a, b) => a.size_bytes - b.size_bytes || byName(a, b)) };
}
