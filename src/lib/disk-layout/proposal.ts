// The layout as the API shows and checks it: whole GB and names only, every disk taken as spinning and fixed. Advisory,
// since the node knows its disks better. Document 2, Layout proposal; document 4, Fixed here, Layout proposal.
import { DISK_LAYOUTS } from "../../contract/enums.ts";
import type { LayoutProposal, SetupApproval } from "../../contract/setup.ts";
import { layoutOf, layoutOptionError, type LayoutOptions, type PoolLayout } from "./layout.ts";
import type { Disk } from "./size-classes.ts";
import type { InventoryDisk } from "./disks.ts";

/**
 * Lists are disk names; `width` is null for `single`, so that the values can be sent back in an approval as they are;
 * `destroys` is every disk that the layout consumes, in the order of the inventory.
 */
export type ProposedLayout = NonNullable<LayoutProposal["proposal"]>;

const BYTES_PER_GB = 1e9;
const UNDECIDED: LayoutOptions = { layout: null, width: null, spares: null, cache: true, exclude: [] };

/** The answer of GET setup-layout-proposal: what the tool would choose by itself, or its words for why it cannot. */
export function layoutProposal(disks: readonly InventoryDisk[]): LayoutProposal {
  return { disks: [...disks], ...proposed(disks, UNDECIDED), supported_layouts: [...DISK_LAYOUTS] };
}

/**
 * The layout that an approval asks for. Judged after the node's state (document 2, Errors, 409).
 * @returns the layout, or the text of a 400: the layout tool's own
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
