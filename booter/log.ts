// Writes one log line per event: the time, the event's name, then key=value pairs. Values are escaped, so that a packet
// cannot start a new line.
export type Fields = Readonly<Record<string, string | number | boolean | null | undefined>>;
export type Log = (event: string, fields?: Fields) => void;

const PLAIN = /^[A-Za-z0-9_.,:;/+@%()[\]-]{1,256}$/;
const VALUE_CHARS_MAX = 512;

export function lineOf(at: Date, event: string, fields: Fields = {}): string {
  const parts = Object.entries(fields).flatMap(([key, value]) =>
    value === undefined || value === null ? [] : [`${key}=${valueText(String(value))}`]
  );
  return [at.toISOString(), event, ...parts].join(" ");
}

function valueText(text: string): string {
  return PLAIN.test(text) ? text : JSON.stringify(text.slice(0, VALUE_CHARS_MAX)).replace(/[\x7f-\uffff]/g, "?");
}

/**
 * Logs an event with the same fields at most once per `every_ms`. The log remembers at most `subjects_max` different
 * lines. When there are more lines, the log forgets all of them.
 */
export function rateLimited(log: Log, { every_ms, subjects_max }: { every_ms: number; subjects_max: number }): Log {
  const logged = new Map<string, number>();
  return (event, fields = {}) => {
    const key = `${event} ${Object.values(fields).join(" ")}`;
    const now = performance.now();
    const last = logged.get(key);
    if (last !== undefined && now - last < every_ms) return;
    if (logged.size >= subjects_max) logged.clear();
    logged.set(key, now);
    log(event, fields);
  };
}
