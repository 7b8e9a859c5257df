// One text per value, so that a hash of it can be verified later: no spaces, keys in code unit order at every level, numbers
// as ECMAScript prints them (the shortest text that parses to the same number), -0 as 0. Values without a JSON form are
// errors: if they were dropped silently, the hash would still verify.

/** Deeper values are errors: the function is recursive, and this system writes no such values. */
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
