// Parses and formats sizes such as 64GiB, in powers of 1024. In tables a size is one word, so that scripts can cut it
// out.
import { usageFailure } from "./failure.ts";

const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** Parses `64GiB`, `1.5TiB` or `1073741824` into bytes. Returns null if the text is not a size. */
export function byteSizeOf(text: string): number | null {
  const [, digits, unit] = /^\s*([0-9]+(?:\.[0-9]+)?)(?:\s*([KMGTP]iB|B))?\s*$/i.exec(text) ?? [];
  const power = UNITS.findIndex((each) => each.toLowerCase() === unit?.toLowerCase()) + 1;
  const bytes = digits === undefined ? NaN : Number(digits) * 1024 ** power;
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/** A user who gives a smaller number without a unit probably does not mean bytes. */
const BYTES_MEANT_MIN = 1024 ** 2;

/**
 * Parses a size as byteSizeOf does. Throws a usage Failure if the text is not a size. `source` names the option in the
 * failure. Also refuses a small number without a unit, except 0: `64` probably means 64GiB, and `64B` means 64 bytes.
 */
export function parseByteSize(text: string, source: string): number {
  const bytes = byteSizeOf(text);
  if (bytes === null) {
    throw usageFailure(`${source} must be a number of bytes or a size such as 512MiB, 64GiB or 1.5TiB, not ${text}`);
  }
  if (/^[0-9]+$/.test(text.trim()) && bytes > 0 && bytes < BYTES_MEANT_MIN) {
    throw usageFailure(`${source} ${text} has no unit and would be ${bytes}B; did you mean ${meant(bytes)}?`);
  }
  return bytes;
}

/** Returns the sizes that a number without a unit may mean. */
function meant(count: number): string {
  if (count < 128) return `${count}GiB`;
  return count < 1024 ? `${count}MiB or ${count}GiB` : `${count}MiB`;
}

/** Formats bytes exactly, in the largest unit that gives a whole number. parseByteSize parses this text. */
export function byteSizeText(bytes: number): string {
  const powers = UNITS.map((_, at) => at + 1).filter((power) => bytes > 0 && bytes % 1024 ** power === 0);
  const power = powers.at(-1) ?? 0;
  return power === 0 ? bytes === 0 ? "0" : `${bytes}B` : `${bytes / 1024 ** power}${UNITS[power - 1]}`;
}

/** Formats bytes, rounded for people: `512B`, `4GiB` or `1.5TiB`. */
export function sizeText(bytes: number): string {
  let power = 0;
  while (power < UNITS.length && Math.abs(bytes) >= 1024 ** (power + 1)) power++;
  const value = bytes / 1024 ** power;
  return `${Number.isInteger(value) ? value : value.toFixed(1)}${power === 0 ? "B" : UNITS[power - 1]}`;
}

/** Formats the size of one record: rounded for people as in lists, and exact: `1.5GiB (1610612736 bytes)`. */
export function exactSizeText(bytes: number): string {
  const text = sizeText(bytes);
  return bytes < 1024 ? text : `${text} (${bytes} bytes)`;
}
