// Shares of something that there is only so much of (connections, bodies, held requests), so that a source that is slow or
// many takes from itself. A source has at most `each_max`. When all is taken, a newcomer takes the oldest slot of the source
// that has most, unless the newcomer's own source would then have more.

export type Slot = {
  /** Makes the slot this heavy, or answers false when the source has its share. */
  readonly grow: (weight: number) => boolean;
  readonly release: () => void;
};

export type Shares = {
  /**
   * A slot of this weight, or null when the source has its share.
   * @param evict called when the slot is taken away; it is released already
   */
  take(source: string, weight: number, evict: () => void): Slot | null;
};

type Held = { weight: number; readonly evict: () => void };
/** A set keeps the order in which slots were taken. */
type Source = { weight: number; readonly slots: Set<Held> };

export type SharesOptions = {
  /** In the unit of the weights: 1, or bytes. A function where it changes; it is asked at each newcomer. */
  readonly total_max: number | (() => number);
  readonly each_max: number;
};

/** Creates empty shares. */
export function createShares({ total_max, each_max }: SharesOptions): Shares {
  const sources = new Map<string, Source>();
  let total = 0;

  function drop(name: string, slot: Held): void {
    const source = sources.get(name);
    if (source === undefined || !source.slots.delete(slot)) return;
    source.weight -= slot.weight;
    total -= slot.weight;
    if (source.slots.size === 0) sources.delete(name);
  }

  /** Looks at every source, which happens only when all is taken. */
  function largest(): [string, Source] | null {
    let found: [string, Source] | null = null;
    for (const entry of sources) if (found === null || entry[1].weight > found[1].weight) found = entry;
    return found;
  }

  /** Makes room for so much more of a source; false when that is not to be had. */
  function fit(name: string, more: number): boolean {
    const wanted = (sources.get(name)?.weight ?? 0) + more;
    if (wanted > each_max) return false;
    const max = typeof total_max === "number" ? total_max : total_max();
    while (total + more > max) {
      const most = largest();
      if (most === null || most[0] === name || most[1].weight < wanted) return false;
      const [oldest] = most[1].slots;
      if (oldest === undefined) return false;
      drop(most[0], oldest);
      oldest.evict();
    }
    return true;
  }

  return {
    take(name, weight, evict) {
      if (!fit(name, weight)) return null;
      const slot: Held = { weight, evict };
      const source = sources.get(name) ?? { weight: 0, slots: new Set() };
      sources.set(name, source);
      source.slots.add(slot);
      source.weight += weight;
      total += weight;
      return {
        grow(to) {
          const more = to - slot.weight;
          if (more <= 0) return true;
          if (!source.slots.has(slot) || !fit(name, more)) return false;
          slot.weight = to;
          source.weight += more;
          total += more;
          return true;
        },
        release: () => drop(name, slot),
      };
    },
  };
}
