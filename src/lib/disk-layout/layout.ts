// Which pool a machine gets. The tool on the node has the last word and destroys what it decides, so what an operator is
// shown and what an approval is checked against has to be its answer: the same disks in the same places, the same
// refusal in the same words. Document 2, Layout constraints; document 4, Fixed here, Layout proposal.
import { DISK_LAYOUTS, type DiskLayout } from "../../contract/enums.ts";
import { defaultLayout } from "./defaults.ts";
import { diskRoles } from "./roles.ts";
import { type Stripes, stripes } from "./vdevs.ts";
import type { Disk } from "./size-classes.ts";

/** `layout` null leaves the choice to the tool; `width` and `spares` null likewise, and 0 spares is a fixed zero. */
export type LayoutOptions = {
  readonly layout: string | null;
  readonly width: number | null;
  readonly spares: number | null;
  readonly cache: boolean;
  /** Whole disk names, any letter case. Names of no disk are ignored, as the tool does. */
  readonly exclude: readonly string[];
};

/** Every disk is in at most one place; a disk in none is left alone. */
export type PoolLayout = Stripes & {
  readonly layout: DiskLayout;
  readonly logs: readonly Disk[];
  readonly cache: readonly Disk[];
};

/** An error that depends on the stripes still tells what the smaller disks would have been for. */
export type NoLayout = { readonly error: string; readonly logs: readonly Disk[]; readonly cache: readonly Disk[] };

/** Storage disks that no width up to the widest can divide: prime, and too many for one stripe. */
const UNDIVIDABLE = new Set([17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67]);

/**
 * The pool that the layout tool would make. Sizes are bytes.
 * @param options width is at least 2 and spares at least 0 where given; `layoutOptionError` checks that
 * @returns the pool, or the tool's own words for why there is none
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
 * What the tool refuses before it looks at any disk, in its words: a width below 2 (whatever the layout, document 2) or
 * a negative number of spares. And in ours: a name that would be two in the list with commas that the tool takes.
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
