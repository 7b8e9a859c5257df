// Computes the layout that the layout tool on the node chooses if no layout is requested. A proposal shows this layout;
// an approval always names a layout.
import type { DiskLayout } from "../../contract/enums.ts";
import type { Disk } from "./size-classes.ts";

/**
 * Disks above this size take long to rebuild. More than 7 such disks get the same layout as more than 16 smaller disks.
 */
const SLOW_REBUILD_BYTES = 1_500e9;

/**
 * @param storage the storage set, smallest disk first, not empty
 * @param options the number of spares and the stripe width, each null if the caller did not fix it
 */
export function defaultLayout(
  storage: readonly Disk[],
  { spares, width }: { readonly spares: number | null; readonly width: number | null },
): DiskLayout {
  const available = storage.length - (spares ?? 0);
  const solid = storage[0]!.solid_state;
  if (available === 1) return "single";
  if (available === 2) return "mirror";
  if (available <= 4) return "raidz1";
  if (available <= 6) return solid || spares !== null ? "raidz1" : "raidz2";
  if (width !== null) return width <= 2 ? "mirror" : width <= 6 ? "raidz1" : width <= 12 ? "raidz2" : "raidz3";
  if (available > 16 || (available > 7 && storage[0]!.size_bytes > SLOW_REBUILD_BYTES)) {
    return spares === null ? "raidz2" : tiledByParity(available);
  }
  if (solid && available < 12) return "raidz2";
  if (available % 2 === 0 || spares === null) return "mirror";
  if (available === 15) return "raidz1";
  return available === 13 ? "raidz3" : "raidz2";
}

/**
 * Chooses the layout of many or large disks when the number of spares is fixed. In this case the disks must divide
 * evenly into stripes, so their number determines the layout.
 */
function tiledByParity(available: number): DiskLayout {
  for (let width = 7; width <= 12; width++) if (available % width === 0) return "raidz2";
  return available === 13 ? "raidz3" : "raidz1";
}
