// Moments in time. Nothing here reads a clock.

/**
 * @param ms milliseconds, may be negative
 * @throws RangeError when the result is no valid Date
 */
export function addMs(date: Date, ms: number): Date {
  const sum = new Date(date.getTime() + ms);
  if (Number.isNaN(sum.getTime())) throw new RangeError("not a valid moment");
  return sum;
}

/**
 * RFC 3339 in UTC with milliseconds, as every timestamp of the wire. Document 4, 0.1.
 * @throws RangeError on an invalid Date or a year outside 0000 to 9999, which RFC 3339 cannot write
 */
export function toRfc3339(date: Date): string {
  const text = date.toISOString();
  if (text.length !== 24) throw new RangeError("RFC 3339 holds the years 0000 to 9999");
  return text;
}
