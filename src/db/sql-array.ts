// Encodes arrays as parameters. The driver would quote and escape every element, which takes longer than storing the
// elements if they are long texts.

/** PostgreSQL's OID of the type text. */
const TEXT_OID = 25;

/**
 * Returns an array as a text literal. Use it for short elements that rarely need quotes: numbers, UUIDs, timestamps,
 * names.
 */
export function arrayLiteral(values: readonly (number | string | null)[]): string {
  return `{${values.map(element).join(",")}}`;
}

function element(value: number | string | null): string {
  if (value === null) return "NULL";
  if (typeof value === "number") return String(value);
  return SAFE.test(value) && !/^null$/i.test(value) ? value : `"${value.replace(/["\\]/g, "\\$&")}"`;
}

const SAFE = /^[\w:.-]+$/;

/**
 * Returns a text[] in PostgreSQL's binary format, which needs no quotes. Use it for long texts. The driver sends a
 * Buffer as a binary parameter.
 */
export function longTextArray(values: readonly (string | null)[]): Buffer {
  if (values.length === 0) return Buffer.from(int32s(0, 0, TEXT_OID));
  // The format: number of dimensions, null flag, element type, number of elements, lower bound; then for each element
  // its length and its bytes. Each call of the encoder is expensive, so one call encodes all texts. Before each text, 4
  // bytes (ROOM) are left for its length.
  const header = int32s(1, values.includes(null) ? 1 : 0, TEXT_OID, values.length, 1);
  const texts = ROOM + values.map((value) => value ?? "").join(ROOM);
  const bytes = Buffer.byteLength(texts);
  const buffer = Buffer.allocUnsafe(header.length + bytes);
  buffer.set(header);
  buffer.write(texts, header.length);
  const ascii = bytes === texts.length;
  let at = header.length;
  for (const value of values) {
    const length = value === null ? 0 : ascii ? value.length : Buffer.byteLength(value);
    buffer.writeInt32BE(value === null ? -1 : length, at);
    at += 4 + length;
  }
  return buffer;
}

const ROOM = "\0".repeat(4);

function int32s(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 * values.length);
  const view = new DataView(bytes.buffer);
  values.forEach((value, index) => view.setInt32(4 * index, value));
  return bytes;
}
