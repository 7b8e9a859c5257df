// Formats ages for people, in one or two units: 45s, 12m, 3h5m, 6d.

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;
/** From this number of hours on, an age is shown in days. */
const HOURS_MAX = 48;

/**
 * Returns the time since `timestamp`, an ISO 8601 time. A time in the future has age 0s: clocks differ a little.
 * Returns any other text unchanged.
 */
export function ageText(timestamp: string, now_ms: number): string {
  const age_s = Math.max(0, Math.floor((now_ms - Date.parse(timestamp)) / 1_000));
  if (Number.isNaN(age_s)) return timestamp;
  if (age_s < 2 * MINUTE_S) return `${age_s}s`;
  if (age_s < 2 * HOUR_S) return `${Math.floor(age_s / MINUTE_S)}m`;
  if (age_s >= HOURS_MAX * HOUR_S) return `${Math.floor(age_s / DAY_S)}d`;
  const minutes = Math.floor(age_s % HOUR_S / MINUTE_S);
  return `${Math.floor(age_s / HOUR_S)}h${minutes === 0 ? "" : `${minutes}m`}`;
}
