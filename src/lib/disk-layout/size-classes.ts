// Groups disks by their nominal capacity. A pool is built from one class, so the grouping decides which disks hold
// data. The classes must be exactly the classes of the layout tool on the node, even where the tool's result is
// surprising. For example, if class A is within 5 % of B, and B within 5 % of C, the result depends on the order of the
// disks.

/**
 * A disk in the layout tool's model. Disks on different buses start in separate classes, but classes of about equal
 * size are merged regardless of bus.
 */
export type Disk = {
  readonly name: string;
  readonly size_bytes: number;
  readonly solid_state: boolean;
  readonly removable: boolean;
  readonly bus: string;
};

/**
 * Disks of about the same capacity; `disks` is never empty. `gb` is the nominal capacity in 10^9 bytes, a multiple of
 * 0.5.
 */
export type SizeClass = { readonly gb: number; readonly solid_state: boolean; readonly disks: readonly Disk[] };

const BYTES_PER_MB = 1e6;
const MB_PER_GB = 1_000;
const TOLERANCE = 0.05;
/** Disks on the market have capacities in multiples of these steps, in MB. Coarse steps come first. */
const MARKET_STEPS_MB = [500_000, 150_000, 80_000, 20_000, 4_500, 1_000] as const;

/**
 * Returns the nominal capacity of a disk: the market capacity within 5 % of the disk's size, or the size rounded to
 * whole GB if no market capacity is so near. If the size is a whole number of GB, the nominal capacity equals the size.
 * @returns GB (10^9 bytes), or 0 for a disk too small to use (below about 0.5 GB)
 */
export function nominalGb(size_bytes: number): number {
  const mb = size_bytes / BYTES_PER_MB;
  let nominalMb = 0;
  let bestScore = 0;
  for (const step of MARKET_STEPS_MB) {
    const steps = Math.floor((mb + step / 2) / step);
    const candidateMb = steps * step;
    if (Math.abs(mb - candidateMb) / mb > TOLERANCE) continue;
    // A capacity with fewer steps is more likely, so the number of steps counts to the fourth power.
    const score = (mb - candidateMb) ** 2 * steps ** 4;
    // As in the tool, a score of 0 also means "no candidate yet", so the next candidate replaces an exact fit.
    if (bestScore === 0 || score < bestScore) {
      nominalMb = candidateMb;
      bestScore = score;
    }
  }
  const fits = Math.abs(nominalMb - mb) / mb < TOLERANCE;
  return fits ? nominalMb / MB_PER_GB : Math.round(mb / MB_PER_GB);
}

/**
 * Groups the usable disks into classes, ordered by their first disk. Skips removable disks and disks whose nominal
 * capacity is 0.
 */
export function sizeClasses(disks: readonly Disk[]): SizeClass[] {
  const classes = new Map<string, SizeClass & { readonly disks: Disk[] }>();
  for (const disk of disks) {
    const gb = nominalGb(disk.size_bytes);
    if (disk.removable || !(gb > 0)) continue;
    const key = JSON.stringify([disk.bus, gb, disk.solid_state]);
    if (!classes.has(key)) classes.set(key, { gb, solid_state: disk.solid_state, disks: [] });
    classes.get(key)!.disks.push(disk);
  }
  return merged([...classes.values()]);
}

/**
 * Merges classes of similar capacity, but never spinning disks with solid state disks. Compares every ordered pair of
 * classes. If two classes differ by at most 5 %, the class with more disks absorbs the other class and keeps its own
 * size. If both have equally many disks, the second class absorbs the first.
 */
function merged(found: readonly SizeClass[]): SizeClass[] {
  const classes: (SizeClass | null)[] = [...found];
  for (let i = 0; i < classes.length; i++) {
    for (let j = 0; j < classes.length; j++) {
      const a = classes[i], b = classes[j];
      if (i === j || !a || !b || a.solid_state !== b.solid_state) continue;
      if (Math.abs(a.gb - b.gb) / b.gb > TOLERANCE) continue;
      const [winner, loser] = a.disks.length > b.disks.length ? [i, j] : [j, i];
      classes[winner] = { ...classes[winner]!, disks: [...classes[winner]!.disks, ...classes[loser]!.disks] };
      classes[loser] = null;
    }
  }
  return classes.filter((one) => one !== null);
}
