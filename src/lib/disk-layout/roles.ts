// The role of each size class. A pool stores data on one class: all other spinning classes, and all solid state classes
// except one or two, are caches.
import { type Disk, type SizeClass, sizeClasses } from "./size-classes.ts";

/** Each list is sorted by size, then by name as plain text (c10 before c2). `storage` is empty when no disk is usable. */
export type DiskRoles = {
  readonly storage: readonly Disk[];
  readonly logs: readonly Disk[];
  readonly cache: readonly Disk[];
};

/** A solid state class with at least this many disks is too valuable for a log. */
const LOG_DISKS_BELOW = 5;

/** @param cache false leaves the disks of the smaller classes unused; a log is created in any case */
export function diskRoles(disks: readonly Disk[], cache: boolean): DiskRoles {
  const classes = sizeClasses(disks).map(inOrder).sort((a, b) => a.disks[0]!.size_bytes - b.disks[0]!.size_bytes);
  const spinning = classes.filter((one) => !one.solid_state);
  const solid = classes.filter((one) => one.solid_state);
  // Any spinning class is preferred to a solid state class.
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
