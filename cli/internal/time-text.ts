// Parses times on the command line: a time of RFC 3339, or an age such as 12h.
import { invalidValue } from "../framework.ts";
import { usageFailure } from "./failure.ts";

/** The forms of a time, in the help of an option. */
export const TIME_HELP = "2026-09-01T12:00:00Z, or an age: 90s, 30m, 12h or 7d";

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;
const DURATION = /^(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/;
/** The units of DURATION, in its order. */
const UNITS_MS = [86_400_000, 3_600_000, 60_000, 1_000] as const;

/** Returns the milliseconds of `90s`, `30m` or `3h5m`, or null if the text is not a duration. */
export function durationMs(text: string): number | null {
  const [, ...counts] = text === "" ? [] : DURATION.exec(text) ?? [];
  if (counts.length === 0) return null;
  return UNITS_MS.reduce((sum, unit_ms, at) => sum + Number(counts[at] ?? 0) * unit_ms, 0);
}

/** Returns a parser of whole seconds and of durations such as 10m. The parser refuses less than `min_s` seconds. */
export function secondsOf(min_s: number): (text: string) => number {
  return (text) => {
    const duration_ms = /^\d+$/.test(text) ? Number(text) * 1_000 : durationMs(text);
    if (duration_ms === null || !Number.isSafeInteger(duration_ms) || duration_ms < min_s * 1_000) {
      throw invalidValue(`It must be a number of seconds, at least ${min_s}, or a duration such as 90s, 30m or 12h.`);
    }
    return duration_ms / 1_000;
  };
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Returns whether the text is an existing day such as 2027-01-31. */
export function isDay(text: string): boolean {
  const time_ms = DAY.test(text) ? Date.parse(text) : NaN;
  return !Number.isNaN(time_ms) && new Date(time_ms).toISOString().startsWith(text);
}

/** The option for the expiry of an API key. A day means its start in UTC. */
export const EXPIRES_AT_OPTION = [
  "--expires-at <time>",
  "expiry: 2027-01-31 (the start of this day in UTC) or 2027-01-31T12:00:00Z; by default the key does not expire",
  (text: string): string => {
    if (isDay(text)) return `${text}T00:00:00Z`;
    // The server checks the rest of a time.
    if (/^\d{4}-\d{2}-\d{2}T/i.test(text)) return text;
    throw invalidValue("It must be a day such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z.");
  },
] as const;

/**
 * Returns the text of a time unchanged, and an age in milliseconds. Throws a usage Failure that names the option if the
 * text is neither.
 */
export function timeOf(flag: string, text: string | undefined): string | number | undefined {
  if (text === undefined || (RFC_3339.test(text) && !Number.isNaN(Date.parse(text)))) return text;
  const age_ms = durationMs(text);
  if (age_ms === null) throw usageFailure(`${flag} ${text} is not a time; write ${TIME_HELP}`);
  return age_ms;
}
