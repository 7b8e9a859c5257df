import { expect, test } from "vitest";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createReportTime } from "../../nodeagent/report-time.ts";
import { stateDir } from "./agent.ts";

const DAY_MS = 86_400_000;
const NOON_MS = Date.UTC(2030, 0, 2, 12);
const at = (ms: number) => new Date(ms).toISOString();

/** Waits until the time of the last report is on disk. */
const saved = (state_dir: string, ms: number) =>
  expect.poll(() => readFile(join(state_dir, "last-report"), "utf8").catch(() => null), { timeout: 60_000 })
    .toBe(`${ms}\n`);

test("each report has the machine's time, and is later than the report before it", async () => {
  let now_ms = NOON_MS;
  const time = createReportTime(stateDir(), () => now_ms);
  expect(await time.next()).toBe(at(NOON_MS));
  expect(await time.next()).toBe(at(NOON_MS + 1));
  now_ms += 5_000;
  expect(await time.next()).toBe(at(NOON_MS + 5_000));
});

test("report times increase even if the clock is set back by a day and corrected", async () => {
  let now_ms = NOON_MS;
  const time = createReportTime(stateDir(), () => now_ms);
  await time.next();
  now_ms -= DAY_MS;
  expect([await time.next(), await time.next()]).toEqual([at(NOON_MS + 1), at(NOON_MS + 2)]);
  now_ms += DAY_MS + 5_000;
  expect(await time.next()).toBe(at(NOON_MS + 5_000));
});

test("the first report of a restarted agent is later than its last report before the restart", async () => {
  const state_dir = stateDir();
  const before = createReportTime(state_dir, () => NOON_MS);
  await before.next();
  await before.next();
  await saved(state_dir, NOON_MS + 1);
  const after = createReportTime(state_dir, () => NOON_MS - DAY_MS);
  expect(await after.next()).toBe(at(NOON_MS + 2));
  await saved(state_dir, NOON_MS + 2);
});

test("a damaged file is treated like a missing file", async () => {
  const state_dir = stateDir();
  await writeFile(join(state_dir, "last-report"), "{", { mode: 0o600 });
  expect(await createReportTime(state_dir, () => NOON_MS).next()).toBe(at(NOON_MS));
  await saved(state_dir, NOON_MS);
});
