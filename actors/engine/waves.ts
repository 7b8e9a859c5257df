// A commit call works in waves. The conditions of a wave are checked after the rows of all earlier waves were written,
// and before the first row of this wave is written. So two units share a wave only if neither can affect the conditions
// of the other. This means that they have no actor in common, and that their named locks do not exclude each other. If
// two units cannot share a wave, the later unit goes into a later wave. Its conditions then see the rows of the earlier
// unit. A unit never comes before an earlier unit that it could affect.
import { refKey } from "./types.ts";
import type { Unit } from "./store.ts";

/**
 * How a unit holds a key. In one wave, several units can hold a key as shared, or several as counted, but only one as
 * exclusive.
 */
type Mode = "shared" | "counted" | "exclusive";

/**
 * The use of one key, which is an actor or a named lock, by the latest units that hold the key in one mode.
 * - `mode`: the mode of these units.
 * - `wave`: their last wave.
 * - `before`: the last wave of the units before them, with which they cannot share a wave; -1 without such units.
 */
type Held = { readonly mode: Mode; readonly wave: number; readonly before: number };

/** Returns the wave of each unit, from 0. */
export function wavesOf(units: readonly Unit[]): readonly number[] {
  const held = new Map<string, Held>();
  return units.map((unit) => {
    const keys = keysOf(unit);
    let wave = 0;
    for (const [key, mode] of keys) wave = Math.max(wave, earliestWave(held.get(key), mode));
    for (const [key, mode] of keys) held.set(key, joined(held.get(key), mode, wave));
    return wave;
  });
}

/** Returns the items whose units are in the first `waves_max` waves, and the rest. Both keep their order. */
export function splitAtWave<T extends { readonly unit: Unit }>(
  items: readonly T[],
  waves_max: number,
): readonly [readonly T[], readonly T[]] {
  const waves = wavesOf(items.map(({ unit }) => unit));
  const isFirst = (_: T, index: number) => (waves[index] ?? 0) < waves_max;
  return [items.filter(isFirst), items.filter((item, index) => !isFirst(item, index))];
}

/** Returns the first wave in which a unit may hold the key in this mode. */
function earliestWave(of: Held | undefined, mode: Mode): number {
  if (of === undefined) return 0;
  return 1 + (canShare(of.mode, mode) ? of.before : of.wave);
}

function joined(of: Held | undefined, mode: Mode, wave: number): Held {
  if (of === undefined) return { mode, wave, before: -1 };
  if (canShare(of.mode, mode)) return { mode, wave: Math.max(of.wave, wave), before: of.before };
  return { mode, wave, before: of.wave };
}

function canShare(one: Mode, other: Mode): boolean {
  return one === other && one !== "exclusive";
}

/** The keys of each unit, computed once, because both the engine and the store need them. */
const known = new WeakMap<Unit, ReadonlyMap<string, Mode>>();

function keysOf(unit: Unit): ReadonlyMap<string, Mode> {
  const keys = known.get(unit) ?? readKeys(unit);
  known.set(unit, keys);
  return keys;
}

/**
 * Returns the keys of a unit: its actors and its named locks. A lock that the unit holds in two modes counts as
 * exclusive.
 */
function readKeys({ actors, choices }: Unit): ReadonlyMap<string, Mode> {
  const keys = new Map<string, Mode>();
  for (const { ref } of actors) keys.set(`actor ${refKey(ref)}`, "exclusive");
  for (const { conditions } of choices) {
    for (const each of conditions) {
      if (each.do !== "lock") continue;
      const key = `lock ${each.key}`;
      const mode = each.shared ? "shared" : each.counted === true ? "counted" : "exclusive";
      keys.set(key, (keys.get(key) ?? mode) === mode ? mode : "exclusive");
    }
  }
  return keys;
}
