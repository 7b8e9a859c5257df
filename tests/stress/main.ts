// Runs the stress tests, two parts at a time: deno run -A tests/stress/main.ts [--seed 1] [--only NAME,NAME]. The
// option of a part sets its size, such as --histories 100000. `--only` takes the names of such options and runs only
// their parts. The parts and the default sizes are in parts.ts.
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { FORMER_NAMES, type Option, type Part, PARTS, SIZES } from "./parts.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const AT_ONCE = 2;

type End = { readonly part: Part; readonly good: boolean; readonly took_s: number };

const OPTIONS = Object.keys(SIZES) as readonly Option[];
const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    only: { type: "string", default: OPTIONS.join(",") },
    ...Object.fromEntries([...OPTIONS, ...Object.keys(FORMER_NAMES)].map((name) => [name, { type: "string" }])),
  } as Record<"seed" | "only", { type: "string"; default: string }> & Record<string, { type: "string" }>,
});
const sizes = Object.fromEntries(OPTIONS.map((option) => [option, number(option)])) as Record<Option, number>;
const only = new Set(values.only.split(",").map((name) => FORMER_NAMES[name] ?? name));
for (const name of only) {
  if (!OPTIONS.some((option) => option === name)) {
    throw new Error(`--only: there is no part ${name}; the parts are ${OPTIONS.join(", ")}`);
  }
}
const seed = number("seed");

const wanted = PARTS.filter(({ option }) => only.has(option) && sizes[option] > 0);
const start_ms = performance.now();
const ends = [
  ...await runAll(wanted.filter(({ last }) => last !== true)),
  ...await runAll(wanted.filter(({ last }) => last === true)),
];
console.log(`\n== ${ends.length} parts in ${since_s(start_ms)} s`);
for (const end of ends) console.log(endLine(end));
process.exit(ends.every(({ good }) => good) ? 0 : 1);

function number(option: "seed" | Option): number {
  const former = Object.keys(FORMER_NAMES).find((name) => FORMER_NAMES[name] === option);
  const value = Number(values[option] ?? (former && values[former]) ?? SIZES[option as Option]);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${option} takes a whole number`);
  return value;
}

async function runAll(parts: readonly Part[]): Promise<readonly End[]> {
  const waiting = [...parts];
  const ended: End[] = [];
  const lane = async () => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) ended.push(await runPart(part));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return ended;
}

async function runPart(part: Part): Promise<End> {
  const part_start_ms = performance.now();
  const output: string[] = [];
  let good = true;
  for (const argv of part.programs(sizes[part.option], seed)) good = good && await runProgram(argv, output);
  const end = { part, good, took_s: since_s(part_start_ms) };
  console.log(`\n== ${endLine(end)}\n${output.join("").trimEnd()}`);
  return end;
}

/**
 * Runs a program and collects its output, because the output of concurrent parts would mix. Returns whether the program
 * succeeded.
 */
function runProgram(argv: readonly string[], output: string[]): Promise<boolean> {
  const child = spawn(process.execPath, ["run", "-A", ...argv], { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => output.push(text));
  }
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => done(code === 0));
  });
}

function endLine({ part, good, took_s }: End): string {
  return `${part.name.padEnd(22)} ${good ? "good  " : "broken"} ${took_s} s`;
}

function since_s(start: number): number {
  return Math.round((performance.now() - start) / 1_000);
}
