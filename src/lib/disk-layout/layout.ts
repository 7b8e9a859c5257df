// Computes a machine's pool. The tool on the node decides, and destroys the disks that it chooses. So the proposal and the
// check of an approval must equal the tool's result: the same disks in the same places, the same errors with the same
// texts.
import { DISK_LAYOUTS, type DiskLayout } from "../../contract/enums.ts";
import { defaultLayout } from "./defaults.ts";
import { diskRoles } from "./roles.ts";
import { type Stripes, stripes } from "./vdevs.ts";
import type { Disk } from "./size-classes.ts";

/** Null lets the tool choose the layout, the width or the spares. 0 spares is a fixed zero. */
export type LayoutOptions = {
  readonly layout: string | null;
  readonly width: number | null;
  readonly spares: number | null;
  readonly cache: boolean;
  /** Whole disk names in any letter case. Unknown names are ignored, as by the tool. */
  readonly exclude: readonly string[];
};

/** Every disk has at most one role; the tool does not touch the others. */
export type PoolLayout = Stripes & {
  readonly layout: DiskLayout;
  readonly logs: readonly Disk[];
  readonly cache: readonly Disk[];
};

/** An error about the stripes still lists the roles of the smaller disks. */
export type NoLayout = { readonly error: string; readonly logs: readonly Disk[]; readonly cache: readonly Disk[] };

/** Numbers of storage disks that no allowed width divides: prime, and too large for one stripe. */
const UNDIVIDABLE = new Set([17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67]);

/**
 * Returns the pool that the layout tool would create. Sizes are in bytes.
 * @param options width is at least 2 and spares at least 0 if given; `layoutOptionError` checks them
 * @returns the pool, or the tool's own error text
 */
export function layoutOf(disks: readonly Disk[], options: LayoutOptions): { proposal: PoolLayout } | NoLayout {
  const excluded = new Set(options.exclude.map((name) => name.toLowerCase()));
  const { storage, logs, cache } = diskRoles(
    disks.filter(({ name }) => !excluded.has(name.toLowerCase())),
    options.cache,
  );
  const early = (error: string): NoLayout => ({ error, logs: [], cache: [] });
  if (storage.length === 0) return early("no primary storage disks available");
  const { spares, width } = options;
  if (spares !== null) {
    const left = storage.length - spares;
    if (spares > 0 && left < 2) return early(`too many spares (${spares}) for this disk configuration`);
    if (UNDIVIDABLE.has(left)) return early(`invalid number of spares (${spares}) for this disk configuration`);
  }
  const layout = options.layout ?? defaultLayout(storage, { spares, width });
  if (!isDiskLayout(layout)) return early(`unknown layout ${layout}`);
  const cut = stripes[layout](storage, { spares, width });
  if ("error" in cut) return { error: cut.error, logs, cache };
  return { proposal: { layout, ...cut, logs, cache } };
}

/**
 * Checks the options that the tool rejects before it reads any disk, with its texts: a width below 2 for any layout, or a
 * negative number of spares. Also rejects a name with a comma, which would be two names in the tool's list.
 * @returns the text of a 400, or null
 */
export function layoutOptionError({ width, spares, exclude }: LayoutOptions): string | null {
  if (spares !== null && !(Number.isSafeInteger(spares) && spares >= 0)) {
    return `invalid value for number of spares: ${spares}`;
  }
  if (width !== null && !(Number.isSafeInteger(width) && width >= 2)) return `invalid width: ${width}`;
  const strange = exclude.find((name) => !/^[A-Za-z0-9._:-]+$/.test(name));
  return strange === undefined ? null : `invalid disk name: ${JSON.stringify(strange)}`;
}

function isDiskLayout(word: string): word is DiskLayout {
  return (DISK_LAYOUTS as readonly string[]).includes(word);
}
