// Computes and formats times. This file does not read a clock.

/**
 * @param ms milliseconds, may be negative
 * @throws RangeError if the result is not a valid Date
 */
export function addMs(date: Date, ms: number): Date {
  const sum = new Date(date.getTime() + ms);
  if (Number.isNaN(sum.getTime())) throw new RangeError("not a valid time");
  return sum;
}

/**
 * Formats a time as RFC 3339 in UTC with milliseconds, like every timestamp in the API.
 * @throws RangeError if the Date is invalid or its year is outside 0000 to 9999, which RFC 3339 cannot express
 */
export function toRfc3339(date: Date): string {
  const text = date.toISOString();
  if (text.length !== 24) throw new RangeError("the year is outside 0000 to 9999, which RFC 3339 cannot express");
  return text;
}
