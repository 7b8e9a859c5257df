// Assigns a role to each size class of disks. The pool stores data on one class. The smallest of the remaining solid
// state classes may become the log; all other classes may become caches.
import { type Disk, type SizeClass, sizeClasses } from "./size-classes.ts";

/**
 * `storage` and `logs` are sorted by size, then by name as plain text (c10 before c2). `cache` lists the spinning
 * classes before the solid state classes, and sorts each class in the same way. `storage` is empty when no disk is
 * usable.
 */
export type DiskRoles = {
  readonly storage: readonly Disk[];
  readonly logs: readonly Disk[];
  readonly cache: readonly Disk[];
};

/** A solid state class becomes the log only if it has fewer disks than this. */
const LOG_DISKS_BELOW = 5;

/**
 * @param cache - Whether to use the remaining classes as caches; false leaves them unused. Has no effect on the log.
 */
export function diskRoles(disks: readonly Disk[], cache: boolean): DiskRoles {
  const classes = sizeClasses(disks).map(inOrder).sort((a, b) => a.disks[0]!.size_bytes - b.disks[0]!.size_bytes);
  const spinning = classes.filter((one) => !one.solid_state);
  const solid = classes.filter((one) => one.solid_state);
  // The largest spinning class; without spinning disks, the largest solid state class.
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
