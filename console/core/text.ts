// Formats and parses values: sizes, times, names of states.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;
const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;

/** 4294967296 becomes "4 GiB". */
export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (Math.abs(value) >= 1_024 && unit < UNITS.length - 1) {
    value /= 1_024;
    unit++;
  }
  return `${Number(value.toFixed(value < 10 ? 1 : 0))} ${UNITS[unit]}`;
}

/** Returns a size that `parseBytes` reads as exactly the same number, for a form. */
export function exactBytes(count: number): string {
  let unit = 0;
  while (unit < UNITS.length - 1 && count > 0 && count % 1_024 ** (unit + 1) === 0) unit++;
  return `${count / 1_024 ** unit} ${UNITS[unit]}`;
}

/** "4 GiB", "512M" or "1024" becomes a number of bytes; null if the text is no size. */
export function parseBytes(text: string): number | null {
  const found = /^(\d+(?:\.\d+)?) ?([kmgtp]?)(?:i?b)?$/i.exec(text.trim());
  if (found === null) return null;
  const power = " kmgtp".indexOf((found[2] ?? "").toLowerCase() || " ");
  return Math.round(Number(found[1]) * 1_024 ** power);
}

/** 0.42 becomes "42 %". */
export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** Returns the time since, or until, a timestamp: "3 min ago", "in 2 h". */
export function relative(timestamp: string, now_ms: number): string {
  const seconds = (now_ms - Date.parse(timestamp)) / 1_000;
  const size = Math.abs(seconds);
  if (size < 2) return "now";
  const text = size < MINUTE_S
    ? `${Math.floor(size)} s`
    : size < HOUR_S
    ? `${Math.floor(size / MINUTE_S)} min`
    : size < 2 * DAY_S
    ? `${Math.floor(size / HOUR_S)} h`
    : `${Math.floor(size / DAY_S)} d`;
  return seconds < 0 ? `in ${text}` : `${text} ago`;
}

/** "awaiting_setup" becomes "awaiting setup". */
export function words(name: string): string {
  return name.replaceAll("_", " ");
}

/** A count with its noun: "1 node", "3 nodes". */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * Returns a sentence with the states in which an action is possible: "The node is pending; this is possible only while
 * it is approved or disabled".
 */
export function onlyWhile(noun: string, state: string, possible: readonly string[]): string {
  return `The ${noun} is ${words(state)}; this is possible only while it is ${possible.map(words).join(" or ")}`;
}

/** Returns a sentence with a capital first letter. A sentence that begins with a command stays unchanged. */
export function sentence(text: string): string {
  return /^(?:opsctl|tenantctl|nodeagent|booter)\b/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** Quotes an argument of a command line if it needs quotes. */
export function argument(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
