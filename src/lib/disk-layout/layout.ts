// Computes the storage pool of a machine. The layout tool on the node makes the final choice and destroys the data on
// the disks that it chooses. The result here is used for the proposal and to check an approval. Therefore it must be
// exactly the tool's result: the same disks in the same roles, and the same error texts.
import { DISK_LAYOUTS, type DiskLayout } from "../../contract/enums.ts";
import { defaultLayout } from "./defaults.ts";
import { diskRoles } from "./roles.ts";
import { type Stripes, stripes } from "./vdevs.ts";
import type { Disk } from "./size-classes.ts";

/** In `layout`, `width` and `spares`, null lets the tool choose; 0 spares means no spares. */
export type LayoutOptions = {
  readonly layout: string | null;
  readonly width: number | null;
  readonly spares: number | null;
  readonly cache: boolean;
  /**
   * Names of disks that must not be used, in any letter case. Unknown names are ignored; the tool also ignores them.
   */
  readonly exclude: readonly string[];
};

/** A pool and the role of each disk. A disk has at most one role; the tool does not touch disks without one. */
export type PoolLayout = Stripes & {
  readonly layout: DiskLayout;
  readonly logs: readonly Disk[];
  readonly cache: readonly Disk[];
};

/**
 * The tool's error text. If only the stripes are impossible, `logs` and `cache` contain the chosen disks; after any
 * other error they are empty.
 */
export type NoLayout = { readonly error: string; readonly logs: readonly Disk[]; readonly cache: readonly Disk[] };

/**
 * If the number of spares is fixed, the tool rejects these counts of storage disks. The spares are not counted. The
 * counts are primes.
 */
const UNDIVIDABLE = new Set([17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67]);

/**
 * Returns the pool that the layout tool would create. Sizes are in bytes.
 * @param options options for which `layoutOptionError` returns null
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
 * Checks the options as the tool does before it reads any disk, with the tool's error texts. For any layout, the width
 * must be at least 2 and the number of spares must not be negative. Also rejects a disk name that is empty or has a
 * character other than letters, digits and `. _ : -`. The tool would read a name with a comma as two names.
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
