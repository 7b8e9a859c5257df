import { expect, test } from "vitest";
import { refreshPause_ms } from "../../booter/booter.ts";
import { RECORD_FRESH_MS, REFRESH_MS } from "../../booter/limits.ts";

test.each([0, 100, 200, 300, 450, 500, 1_000, 1_500])(
  "a reading that takes %i ms ends before the one before it is stale",
  (took_ms) => expect(refreshPause_ms(took_ms) + took_ms).toBeLessThan(RECORD_FRESH_MS),
);

test.each([
  [0, REFRESH_MS],
  [300, 3_000],
  [10_000, REFRESH_MS],
])("after a reading of %i ms the pause has %i ms", (took_ms, pause_ms) => {
  expect(refreshPause_ms(took_ms)).toBe(pause_ms);
});
