// Computes the server's time from the Date header of its latest answer. The programs compare the server's timestamps
// with this time to show ages, because the clock of the user's machine may be wrong.
import type { Environment } from "./environment.ts";

/** Difference between the server's clock and this machine's clock, in milliseconds. */
const offsets_ms = new WeakMap<Environment, number>();

/** Remembers the Date header of an answer. A missing or unreadable header changes nothing. */
export function noteServerTime(environment: Environment, date: string | null): void {
  const server_ms = date === null ? NaN : Date.parse(date);
  if (!Number.isNaN(server_ms)) offsets_ms.set(environment, server_ms - environment.wallMs());
}

/** Returns the server's time in milliseconds since 1970; before the first answer, this machine's time. */
export function serverNowMs(environment: Environment): number {
  return environment.wallMs() + (offsets_ms.get(environment) ?? 0);
}
