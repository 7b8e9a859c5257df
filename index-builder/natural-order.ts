// Compares names in natural order: runs of digits compare as numbers of any length, so 9.10 follows 9.9 and Build19.143
// follows Build19.99. All other characters compare by code unit.

/** Compares two names for Array.sort. Returns zero only for equal texts. */
export function compareNatural(a: string, b: string): number {
  const left = runs(a);
  const right = runs(b);
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const order = compareRun(left[i]!, right[i]!);
    if (order !== 0) return order;
  }
  return left.length - right.length || compareText(a, b);
}

/** Returns the items, newest first. */
export function newestFirst<T>(items: Iterable<T>, keyOf: (item: T) => string): T[] {
  return [...items].sort((a, b) => compareNatural(keyOf(b), keyOf(a)));
}

/** Returns the greatest item by natural order, or null for an empty list. */
export function newest<T>(items: Iterable<T>, keyOf: (item: T) => string): T | null {
  let best: T | null = null;
  for (const item of items) {
    if (best === null || compareNatural(keyOf(item), keyOf(best)) > 0) best = item;
  }
  return best;
}

function runs(text: string): string[] {
  return text.match(/[0-9]+|[^0-9]+/g) ?? [];
}

function compareRun(a: string, b: string): number {
  if (!isDigits(a) || !isDigits(b)) return compareText(a, b);
  const left = a.replace(/^0+(?=.)/, "");
  const right = b.replace(/^0+(?=.)/, "");
  return left.length - right.length || compareText(left, right);
}

function isDigits(run: string): boolean {
  return run[0]! >= "0" && run[0]! <= "9";
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
