// A commit call checks all of its units before it writes the first. Two units whose named locks exclude each other
// would both pass guards that only one of them may pass, so they never share a call.
import type { Unit } from "./store.ts";

/** Splits the items, in order, into those that may share one call and those that must wait for the next. */
export function splitByLocks<T extends { readonly unit: Unit }>(
  items: readonly T[],
): { readonly now: T[]; readonly later: T[] } {
  const [now, later]: [T[], T[]] = [[], []];
  // Maps a key to whether all of its holders share it.
  const held = new Map<string, boolean>();
  for (const item of items) {
    const locks = locksOf(item.unit);
    if ([...locks].some(([key, shared]) => held.has(key) && !(shared && held.get(key)))) {
      later.push(item);
      continue;
    }
    for (const [key, shared] of locks) held.set(key, shared);
    now.push(item);
  }
  return { now, later };
}

function locksOf({ choices }: Unit): Map<string, boolean> {
  const locks = new Map<string, boolean>();
  for (const each of choices.flatMap((choice) => choice.conditions)) {
    if (each.do === "lock") locks.set(each.key, each.shared && (locks.get(each.key) ?? true));
  }
  return locks;
}
