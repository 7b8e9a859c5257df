// Reads a Range header with one byte range (RFC 9110, 14). For several ranges or an unknown form, the whole file is
// sent.
export type ByteRange = { readonly start: number; readonly end: number };

/** Returns the range (`end` is inclusive), null for the whole file, or "none" if the range is outside the file. */
export function readRange(header: string | undefined, size: number): ByteRange | "none" | null {
  const found = /^bytes=([0-9]{0,15})-([0-9]{0,15})$/.exec(header?.trim() ?? "");
  if (found === null) return null;
  const [, first = "", last = ""] = found;
  if (first === "") {
    if (last === "") return null;
    const length = Math.min(Number(last), size);
    return length === 0 ? "none" : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== "" && Number(last) < start) return null;
  return start >= size ? "none" : { start, end };
}
