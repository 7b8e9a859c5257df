// One event is one line of printable text, even with hostile names. docs/reliability.md S-19.
import type { LogRecord } from "@logtape/logtape";
import { expect, test } from "vitest";
import { logLine } from "../../src/logging.ts";

const record = (properties: Record<string, unknown>): LogRecord => ({
  timestamp: 0,
  level: "warning",
  category: ["berth", "http"],
  message: ["request failed"],
  rawMessage: "request failed",
  properties,
});

const HOSTILE = [
  "two\r\nlines",
  '{"level":"FORGED"}',
  "\x1b[2J\x1b]0;title\x07",
  "\u009b2J",
  "\0\x7f",
  "\u202egnp.exe",
  "\u2066hidden\u2069",
  "a\u2028b\u2029c\u0085d",
  "\u200b\ufeff\u00ad",
  "half \ud800 a pair",
  "\u{e0001}tagged",
];
/** No control, formatting or invisible characters. */
const PRINTABLE = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]*$/u;

test.each(HOSTILE)("S-19: %j is logged as one printable line that parses back unchanged", (text) => {
  const line = logLine(record({ name: text, deep: { [text]: [text] } }));
  expect(line).toMatch(PRINTABLE);
  const entry = JSON.parse(line);
  expect(entry).toMatchObject({ level: "WARN", message: "request failed", logger: "berth.http", name: text });
});

test("S-19: a line has at most 16 KiB; a longer line is replaced by a message", () => {
  for (const long of ["x".repeat(2 ** 20), "\u202e".repeat(4_000), "ß".repeat(9_000)]) {
    const line = logLine(record({ name: long }));
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(16_384);
    expect(JSON.parse(line)).toMatchObject({ level: "warning", message: expect.stringContaining("too long") });
  }
  expect(logLine(record({ name: "x".repeat(16_000) }))).toContain("x".repeat(16_000));
});
