// Writes canonical JSON: each value has exactly one text, so a hash of the text can be verified later. The text has no
// spaces between tokens. Keys are in code unit order at every level. Numbers are printed as in ECMAScript (the shortest
// text that parses to the same number), and -0 is 0. Values without a JSON form are errors. If they were dropped
// silently, a change of such a value would not change the hash.

/** The deepest nesting. Deeper values are errors, because the function is recursive and Berth writes no such values. */
const DEPTH_MAX = 512;

/**
 * @returns the canonical text
 * @throws TypeError if the value contains undefined, NaN, an infinity, a bigint, a symbol, a function or an object that
 * is not plain
 * @throws RangeError if the value is nested deeper than 512 levels, for example in a cycle
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
