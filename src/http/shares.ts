// Divides a limited resource, such as connections, bodies or long polls, among its sources, so that a slow or busy
// source limits only itself. Each request takes a slot with a weight: 1, or a number of bytes. The slots of a source
// together have at most the weight `each_max`. When the whole resource is taken, a new request takes over the oldest
// slot of the largest source. The request is refused if its own source is the largest, or would become larger than the
// largest.

export type Slot = {
  /** Raises the weight of the slot to this value. Returns false if there is no room, or the slot was taken over. */
  readonly grow: (weight: number) => boolean;
  readonly release: () => void;
};

export type Shares = {
  /**
   * Takes a slot of this weight. Returns null if the source has reached its share, or if the whole resource is taken
   * and no larger source can give way.
   * @param evict called when another source takes over the slot; the slot is already released when it is called
   */
  take(source: string, weight: number, evict: () => void): Slot | null;
};

type Held = { weight: number; readonly evict: () => void };
/** A source with its slots, in the order in which they were taken. */
type Source = { weight: number; readonly slots: Set<Held> };

export type SharesOptions = {
  /**
   * The maximum weight of all slots together, as a number of slots or bytes. It is a function if the maximum changes.
   */
  readonly total_max: number | (() => number);
  readonly each_max: number;
};

/** Creates shares in which all slots are free. */
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

  /**
   * Returns the source with the most weight. Visits every source, so it is called only when the whole resource is
   * taken.
   */
  function largest(): [string, Source] | null {
    let found: [string, Source] | null = null;
    for (const entry of sources) if (found === null || entry[1].weight > found[1].weight) found = entry;
    return found;
  }

  /**
   * Makes room for `more` weight of a source by evicting slots of larger sources. Returns false if that is not
   * possible.
   */
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
