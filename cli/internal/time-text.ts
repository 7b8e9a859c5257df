// Times on the command line: a time of RFC 3339, or its age.
import { usageFailure } from "./failure.ts";

/** The forms of a time, in the help of an option. */
export const TIME_HELP = "2026-09-01T12:00:00Z, or an age: 90s, 30m, 12h or 7d";

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;
const AGE = /^(\d{1,6})([smhd])$/;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns the time, or its age in milliseconds. Throws a usage Failure that names the option if the text is neither. */
export function timeOf(flag: string, text: string | undefined): string | number | undefined {
  if (text === undefined || (RFC_3339.test(text) && !Number.isNaN(Date.parse(text)))) return text;
  const [, count, unit = ""] = AGE.exec(text) ?? [];
  const unit_ms = UNIT_MS[unit];
  if (unit_ms === undefined) throw usageFailure(`${flag} ${text} is not a time; write ${TIME_HELP}`);
  return Number(count) * unit_ms;
}
