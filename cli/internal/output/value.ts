// Compares and formats the values of rows for --sort-by and --filter.

/** Numbers compare by value, other values as text. */
export function compare(a: unknown, b: unknown): number {
  const [left, right] = [Number(a), Number(b)];
  if (textOf(a) !== "" && textOf(b) !== "" && !Number.isNaN(left) && !Number.isNaN(right)) return left - right;
  return textOf(a).localeCompare(textOf(b), "en", { numeric: true });
}

/** Returns whether a value is missing or an empty text, which the table shows as `-`. */
export function isUnset(value: unknown): boolean {
  return textOf(value) === "";
}

/** Returns a value as text: JSON for an object, nothing for null. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
