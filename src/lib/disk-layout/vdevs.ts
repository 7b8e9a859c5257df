// Divides the storage set into stripes. The largest disks become spares, because only they can replace any other disk.
// The other disks, smallest first, are divided into stripes in order. The error texts are the same as in the layout
// tool.
import type { DiskLayout } from "../../contract/enums.ts";
import type { Disk } from "./size-classes.ts";

/** The vdev's type in the command that creates the pool; null for a single disk. */
export type Vdev = { readonly type: "mirror" | "raidz" | "raidz2" | "raidz3" | null; readonly disks: readonly Disk[] };
/** `width` is the number of disks per stripe; null for a single disk. `capacity_bytes` excludes parity. */
export type Stripes = {
  readonly width: number | null;
  readonly vdevs: readonly Vdev[];
  readonly spares: readonly Disk[];
  readonly capacity_bytes: number;
};
/** Values fixed by the caller; null lets the layout choose. 0 `spares` means no spares. */
export type Fixed = { readonly width: number | null; readonly spares: number | null };
/** The layout tool's error text if the disks cannot have the layout. */
export type Refused = { readonly error: string };

/**
 * @param disks the storage set, smallest first, not empty. If `fixed.spares` is above 0, the set has at least two more
 *   disks than spares
 */
export const stripes: Record<DiskLayout, (disks: readonly Disk[], fixed: Fixed) => Stripes | Refused> = {
  single,
  mirror,
  raidz1: (disks, fixed) => raidz({ type: "raidz", parity: 1, min: 3, max: 6, spareEvery: 7 }, disks, fixed),
  raidz2: (disks, fixed) => {
    const n = disks.length;
    const bounds = n === 5 || n === 6 ? { min: n, max: n } : { min: 7, max: 12 };
    return raidz({ type: "raidz2", parity: 2, ...bounds, spareEvery: 12 }, disks, fixed);
  },
  raidz3: (disks, fixed) => {
    const n = disks.length;
    const bounds = n === 7 || n === 8 ? { min: n, max: n } : { min: 9, max: 20 };
    return raidz({ type: "raidz3", parity: 3, ...bounds, spareEvery: 15 }, disks, fixed);
  },
};

function single(disks: readonly Disk[], { spares }: Fixed): Stripes | Refused {
  if (spares) return { error: "spares are not allowed for a single disk pool" };
  const first = disks[0]!;
  return { width: null, vdevs: [{ type: null, disks: [first] }], spares: [], capacity_bytes: first.size_bytes };
}

function mirror(disks: readonly Disk[], { width, spares }: Fixed): Stripes | Refused {
  const n = disks.length;
  if (n < 2) return { error: "at least 2 disks are required for mirroring" };
  const available = n - (spares ?? 0);
  if (width !== null && (width < 2 || width > available)) {
    return { error: `${width} is an invalid width for mirroring and ${available} disks` };
  }
  // If the number of spares is fixed but the width is not, an odd number of disks leaves one disk over. The tool makes
  // this disk a mirror of one disk.
  const rest = width === null ? "lone stripe" : "unused";
  return cut(disks, {
    type: "mirror",
    parity: null,
    width: width ?? 2,
    spares: spares ?? mirrorSpares(n, width),
    rest,
  });
}

function mirrorSpares(n: number, width: number | null): number {
  if (width !== null) return n % width;
  if (n === 2 || n === 4) return 0;
  const spares = Math.ceil(n / 16);
  return spares + (n - spares) % 2;
}

type Raidz = {
  readonly type: "raidz" | "raidz2" | "raidz3";
  readonly parity: number;
  readonly min: number;
  readonly max: number;
  /** The search begins with one spare for each group of this many disks, but with at most two spares. */
  readonly spareEvery: number;
};

function raidz(kind: Raidz, disks: readonly Disk[], fixed: Fixed): Stripes | Refused {
  const chosen = fixed.width === null
    ? searchedWidth(kind, disks.length, fixed.spares)
    : fixedWidth(kind, disks.length, { width: fixed.width, spares: fixed.spares });
  if ("error" in chosen) return chosen;
  return cut(disks, { type: kind.type, parity: kind.parity, ...chosen, rest: "unused" });
}

type Chosen = { readonly width: number; readonly spares: number };

function fixedWidth(
  { type, min, max }: Raidz,
  n: number,
  { width, spares }: { readonly width: number; readonly spares: number | null },
): Chosen | Refused {
  if (width < min || width > n) {
    return { error: `${width} is an invalid width for ${type} and ${n} disks (min: ${min}, default max: ${max})` };
  }
  if (spares !== null && n - spares < width) {
    return { error: `${width} is an invalid width for ${type} and ${spares} spares` };
  }
  return { width, spares: spares ?? n % width };
}

/**
 * Finds the smallest width that divides the available disks evenly. If the number of spares is not fixed, adds spares
 * until such a width exists.
 */
function searchedWidth({ type, min, max, spareEvery }: Raidz, n: number, fixed: number | null): Chosen | Refused {
  for (let spares = fixed ?? Math.min(2, Math.floor(n / spareEvery)); n - spares >= min; spares++) {
    for (let width = min; width <= max; width++) {
      if ((n - spares) % width === 0) return { width, spares };
    }
    if (fixed !== null) {
      const plural = fixed === 1 ? "spare" : "spares";
      return { error: `no acceptable ${type} layout is possible with ${n} disks and ${fixed} ${plural}` };
    }
  }
  return { error: `no acceptable ${type} layout is possible with ${n} disks` };
}

type Cut = Chosen & {
  readonly type: Exclude<Vdev["type"], null>;
  /** The number of parity disks per stripe; null for a mirror, whose capacity is one disk. */
  readonly parity: number | null;
  readonly rest: "unused" | "lone stripe";
};

function cut(disks: readonly Disk[], { type, parity, width, spares, rest }: Cut): Stripes {
  const used = disks.length - spares;
  const count = rest === "unused" ? Math.floor(used / width) : Math.ceil(used / width);
  const vdevs = Array.from({ length: count }, (_, index): Vdev => {
    return { type, disks: disks.slice(index * width, Math.min((index + 1) * width, used)) };
  });
  const dataDisks = parity === null ? 1 : width - parity;
  const capacity_bytes = vdevs.reduce((sum, vdev) => sum + dataDisks * vdev.disks[0]!.size_bytes, 0);
  return { width, vdevs, spares: disks.slice(used), capacity_bytes };
}
