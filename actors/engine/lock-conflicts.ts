// The units of one commit call are all checked before the first of them is written. Two whose named locks exclude each
// other would both pass guards that only one of them may pass, so they never share a call.
import type { Unit } from "./store.ts";

/** What may go in one call, in order, and what has to wait for the next one. */
export function splitByLocks<T extends { readonly unit: Unit }>(
  items: readonly T[],
): { readonly now: T[]; readonly later: T[] } {
  const [now, later]: [T[], T[]] = [[], []];
  // Key to whether all holders only share it.
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
