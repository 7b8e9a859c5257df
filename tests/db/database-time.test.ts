// Tests that, between two readings of the database's clock, a process advances the database's time with its own
// monotonic clock.
import { afterEach, expect, test, vi } from "vitest";
import { openDatabaseTime } from "../../src/db/database-time.ts";
import type { DbClient } from "../../src/db/pool.ts";

const MINUTE_MS = 60_000;

afterEach(() => vi.useRealTimers());

test("the time continues from the last reading, and jumps of the process's wall clock do not change it", async () => {
  vi.useFakeTimers({ toFake: ["performance", "Date"] });
  const noon_ms = Date.parse("2026-11-01T12:00:00Z");
  let answer: () => Promise<Date> = () => Promise.resolve(new Date(noon_ms));
  // A test cannot change the clock of a database, so this client is a fake. The tested code calls only `query`.
  const client = { query: async () => ({ rows: [{ now: await answer() }] }) } as unknown as DbClient;
  const time = await openDatabaseTime(client);
  vi.setSystemTime(0);
  vi.advanceTimersByTime(MINUTE_MS);
  expect(time.now_ms()).toBe(noon_ms + MINUTE_MS);
  answer = () => Promise.reject(new Error("connection lost"));
  await expect(time.measure()).rejects.toThrow("connection lost");
  vi.advanceTimersByTime(MINUTE_MS);
  expect(time.now_ms()).toBe(noon_ms + 2 * MINUTE_MS);
  answer = () => Promise.resolve(new Date(noon_ms));
  await time.measure();
  expect(time.now_ms()).toBe(noon_ms);
});
