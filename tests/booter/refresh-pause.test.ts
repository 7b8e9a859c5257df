// The booter refreshes its copies of the boot records again and again. Tests the pauses between the refreshes.
import { expect, test } from "vitest";
import { refreshPause_ms } from "../../booter/booter.ts";
import { READING_MS, RECORD_FRESH_MS, REFRESH_MS } from "../../booter/limits.ts";

test.each([0, 100, 200, 300, 450, 500, 1_000, 1_500])(
  "if each refresh takes %i ms, a refresh and the pause before it take at most READING_MS together",
  (took_ms) => expect(refreshPause_ms(took_ms) + took_ms).toBeLessThanOrEqual(READING_MS),
);

test("a refresh that takes twice as long as the previous refresh ends before the records are stale", () => {
  for (let took_ms = 0; took_ms <= 4_000; took_ms += 50) {
    expect(refreshPause_ms(took_ms) + took_ms * 2).toBeLessThan(RECORD_FRESH_MS);
  }
});

test.each([
  [0, REFRESH_MS],
  [300, 3_000],
  [10_000, REFRESH_MS],
])("after a refresh of %i ms the pause is %i ms", (took_ms, pause_ms) => {
  expect(refreshPause_ms(took_ms)).toBe(pause_ms);
});
