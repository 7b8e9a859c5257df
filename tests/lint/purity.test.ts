// Code in actors/ reads no clock, draws no random numbers, does not wait and does no I/O, except through ports.
// Therefore the simulator can run this code on virtual time.
import { expect, test } from "vitest";
import { code, sources } from "./sources.ts";

const FORBIDDEN: readonly [RegExp, string][] = [
  [/\bDate\.now\b/, "take `now` from the load (the database's clock)"],
  [/\bnew Date\(\s*\)/, "take `now` from the load (the database's clock)"],
  [/\bperformance\b/, "measure in src/, where the port is constructed"],
  [/\bMath\.random\b/, "use ports.random, or put the value into the message"],
  [/\b(?:randomUUID|randomBytes|getRandomValues)\b/, "put the id or the bytes into the message"],
  [/\bset(?:Timeout|Interval|Immediate)\b/, "use ports.sleep, ports.soon, or a deadline"],
  [/\bfetch\s*\(/, "emit a tell or a job; only src/ does I/O"],
  [/\bDeno\b/, "use a port"],
  [/\bprocess\b\./, "pass configuration in from src/wiring.ts"],
  [/\bconsole\.\w/, "use ports.report"],
  [/from "node:(?!crypto")/, "use a port"],
];

const files = sources(["actors"]);

function breaches(path: string, text: string): string[] {
  const bare = code(text);
  return FORBIDDEN.filter(([pattern]) => pattern.test(bare)).map(([pattern, fix]) =>
    `${path}: ${pattern}. Fix: ${fix}.`
  );
}

test("no file of actors/ uses time, randomness or I/O directly", () => {
  expect(files.length).toBeGreaterThan(20);
  expect(files.flatMap(({ path, text }) => breaches(path, text))).toEqual([]);
});

test.each([
  "const now = new Date();",
  "const id = crypto.randomUUID();",
  "setTimeout(() => {}, 1);",
  'await fetch("http://x");',
  'Deno.env.get("X");',
  'import { readFile } from "node:fs/promises";',
])("the check rejects %s", (text) => {
  expect(breaches("actors/x.ts", text)).not.toEqual([]);
});

test("the check accepts a date made from a number, and comments", () => {
  expect(breaches("actors/x.ts", "// Date.now() is forbidden\nconst at = new Date(now.getTime() + 1);")).toEqual([]);
});
