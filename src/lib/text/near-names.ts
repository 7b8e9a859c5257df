// Finds names that a mistyped name may have meant.

/** Maximum number of names that an error suggests. */
const NAMES_MAX = 3;
/** One mistake is allowed for every group of this many characters, and at least one in every name. */
const CHARS_PER_MISTAKE = 4;

/**
 * Returns the names that differ from `wanted` by few letters, the nearest first, at most NAMES_MAX. Ignores letter
 * case.
 */
export function nearNames(names: readonly string[], wanted: string): string[] {
  const mistakes_max = Math.max(1, Math.floor(wanted.length / CHARS_PER_MISTAKE));
  return [...new Set(names)]
    .map((name) => ({ name, mistakes: distance(name.toLowerCase(), wanted.toLowerCase()) }))
    .filter(({ mistakes }) => mistakes <= mistakes_max)
    .sort((a, b) => a.mistakes - b.mistakes)
    .slice(0, NAMES_MAX)
    .map(({ name }) => name);
}

/** Returns the least number of insertions, deletions, replacements and swaps of neighbours between two words. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        rows[i - 1]![j]! + 1,
        row[j - 1]! + 1,
        rows[i - 1]![j - 1]! + same,
        swapped ? rows[i - 2]![j - 2]! + 1 : Infinity,
      );
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
