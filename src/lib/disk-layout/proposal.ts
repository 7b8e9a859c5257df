// Computes the layout that the API proposes and checks. The computation uses only the name of each disk and its size in
// whole GB. It assumes that every disk is spinning and not removable. The proposal is advisory, because only the node
// knows its disks exactly.
import { DISK_LAYOUTS } from "../../contract/enums.ts";
import type { LayoutProposal, SetupApproval } from "../../contract/setup.ts";
import { layoutOf, layoutOptionError, type LayoutOptions, type PoolLayout } from "./layout.ts";
import type { Disk } from "./size-classes.ts";
import type { InventoryDisk } from "./disks.ts";

/**
 * A proposed layout. Its lists contain disk names. `width` is null for the layout `single`, so that an approval can
 * send the values back unchanged. `destroys` lists every disk that the layout uses, in the order of the inventory.
 */
export type ProposedLayout = NonNullable<LayoutProposal["proposal"]>;

const BYTES_PER_GB = 1e9;
const UNDECIDED: LayoutOptions = { layout: null, width: null, spares: null, cache: true, exclude: [] };

/** Returns the reply of GET setup-layout-proposal: the tool's default layout, or its error text. */
export function layoutProposal(disks: readonly InventoryDisk[]): LayoutProposal {
  return { disks: [...disks], ...proposed(disks, UNDECIDED), supported_layouts: [...DISK_LAYOUTS] };
}

/**
 * Returns the layout of an approval. The caller must check the node's state first, so that a wrong state gets its 409.
 * @returns the layout, or the layout tool's error as the text of a 400
 */
export function approvedLayout(
  disks: readonly InventoryDisk[],
  approval: SetupApproval,
): { proposal: ProposedLayout } | { error: string } {
  const options: LayoutOptions = {
    layout: approval.disk_layout,
    width: approval.disk_width,
    spares: approval.disk_spares,
    cache: approval.disk_cache,
    exclude: approval.disk_exclude,
  };
  const error = layoutOptionError(options);
  return error === null ? proposed(disks, options) : { error };
}

function proposed(
  disks: readonly InventoryDisk[],
  options: LayoutOptions,
): { proposal: ProposedLayout } | { error: string } {
  const made = layoutOf(disks.map(asSpinning), options);
  return "error" in made ? { error: made.error } : { proposal: shown(made.proposal, disks) };
}

function shown(pool: PoolLayout, inventory: readonly InventoryDisk[]): ProposedLayout {
  const names = (disks: readonly Disk[]) => disks.map(({ name }) => name);
  const striped = pool.vdevs.flatMap(({ disks }) => disks);
  const consumed = new Set(names([...striped, ...pool.spares, ...pool.logs, ...pool.cache]));
  return {
    layout: pool.layout,
    width: pool.width,
    spares: pool.spares.length,
    vdevs: pool.vdevs.map(({ type, disks }) => ({ ...(type === null ? {} : { type }), disks: names(disks) })),
    spare_disks: names(pool.spares),
    cache_disks: names(pool.cache),
    capacity_gb: Math.round(pool.capacity_bytes / BYTES_PER_GB),
    destroys: inventory.map(({ name }) => name).filter((name) => consumed.has(name)),
  };
}

function asSpinning({ name, size_gb }: InventoryDisk): Disk {
  return { name, size_bytes: size_gb * BYTES_PER_GB, solid_state: false, removable: false, bus: "" };
}
