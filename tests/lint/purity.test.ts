// Nothing below actors/ reads a clock, draws a random number, waits, or touches the world: all of that enters through
// ports, so that the simulator can run the same code on virtual time.
import { expect, test } from "vitest";
import { code, sources } from "./sources.ts";

const FORBIDDEN: readonly [RegExp, string][] = [
  [/\bDate\.now\b/, "take `now` from the load (the database's clock)"],
  [/\bnew Date\(\s*\)/, "take `now` from the load (the database's clock)"],
  [/\bperformance\b/, "measure in src/, where the port is made"],
  [/\bMath\.random\b/, "use ports.random, or let the message bring the value"],
  [/\b(?:randomUUID|randomBytes|getRandomValues)\b/, "let the message bring the id or the bytes"],
  [/\bset(?:Timeout|Interval|Immediate)\b/, "use ports.sleep, ports.soon, or a deadline"],
  [/\bfetch\s*\(/, "emit a tell or a job; the world is reached from src/"],
  [/\bDeno\b/, "use a port"],
  [/\bprocess\b\./, "pass configuration in from src/wiring.ts"],
  [/\bconsole\b/, "use ports.report"],
  [/from "node:(?!crypto")/, "use a port"],
];

const files = sources(["actors"]);

function breaches(path: string, text: string): string[] {
  const bare = code(text);
  return FORBIDDEN.filter(([pattern]) => pattern.test(bare)).map(([pattern, fix]) =>
    `${path}: ${pattern}. Mend: ${fix}.`
  );
}

test("no file of actors/ reaches for time, chance or the world", () => {
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
])("the rule catches: %s", (text) => {
  expect(breaches("actors/x.ts", text)).not.toEqual([]);
});

test("the rule lets a date be made from a number, and words in comments be", () => {
  expect(breaches("actors/x.ts", "// Date.now() is forbidden\nconst at = new Date(now.getTime() + 1);")).toEqual([]);
});
