// One text per value, so that a hash over it can be checked later: no spaces, keys in code unit order at every level,
// numbers as ECMAScript prints them (the shortest text that reads back equal), -0 as 0. What JSON cannot hold is
// refused and never dropped, because a silently dropped field would verify. Document 4, section 6, Number text.

/** Deeper values are refused: nothing this system writes comes near it, and the walk uses the stack. */
const DEPTH_MAX = 512;

/**
 * @returns the canonical text
 * @throws TypeError on undefined, NaN, infinities, bigint, symbols, functions and objects other than plain ones
 * @throws RangeError beyond 512 levels (which includes cycles)
 */
export function canonicalJson(value: unknown): string {
  return write(value, 0);
}

function write(value: unknown, depth: number): string {
  if (depth > DEPTH_MAX) throw new RangeError(`nested deeper than ${DEPTH_MAX} levels`);
  switch (typeof value) {
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`${value} has no JSON text`);
      return String(value === 0 ? 0 : value);
    case "object":
      if (value === null) return "null";
      if (Array.isArray(value)) return `[${Array.from(value, (item) => write(item, depth + 1)).join(",")}]`;
      return writeObject(value, depth);
    default:
      throw new TypeError(`${typeof value} has no JSON text`);
  }
}

function writeObject(value: object, depth: number): string {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError("only plain objects have a JSON text");
  const record = value as Record<string, unknown>;
  const members = Object.keys(record).sort().map((key) => `${JSON.stringify(key)}:${write(record[key], depth + 1)}`);
  return `{${members.join(",")}}`;
}
