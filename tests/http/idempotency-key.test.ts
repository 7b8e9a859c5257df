import { expect, test } from "vitest";
import { IDEMPOTENCY_KEY_CHARS_MAX } from "../../src/contract/limits.ts";
import { parseIdempotencyKey } from "../../src/http/idempotency-key.ts";

test.each(["a", "~!x y", "x".repeat(IDEMPOTENCY_KEY_CHARS_MAX)])("the key %j is accepted unchanged", (value) => {
  expect(parseIdempotencyKey(value)).toEqual({ ok: true, value });
});

test.each(["", " ", "x".repeat(IDEMPOTENCY_KEY_CHARS_MAX + 1), "a\tb", "a\nb", "é", "\x7f", "a\0"])(
  "the key %j is refused with 400",
  (value) => {
    const parsed = parseIdempotencyKey(value);
    expect(parsed.ok ? null : parsed.fault.kind).toBe("bad_request");
  },
);
