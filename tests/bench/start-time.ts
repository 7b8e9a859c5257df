// Measures how long an executable takes to start and print its help. Compares this time with the time of an empty
// program from the same compiler. The programs run in turn. Single run: `deno run -A tests/bench/start-time.ts`.
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "../../cli/compile.ts";
import { median } from "./report.ts";

const EXECUTABLES = ["opsctl", "tenantctl"] as const;
const RUNS = 60;
/** Unmeasured runs that warm the file cache and the processor. */
const WARMING_RUNS = 5;
/** The target: the help takes at most this multiple of the time of the empty executable. */
export const START_RATIO_MAX = 3;

export type StartTime = { readonly name: string; readonly ms: number; readonly ratio: number };

/** Returns the median times. The first time is the time of the empty executable. */
export async function measureStarts(): Promise<StartTime[]> {
  const folder = await mkdtemp(join(tmpdir(), "bench-start-"));
  try {
    const source = join(folder, "empty.ts");
    await writeFile(source, "export {};\n");
    await compile(source, join(folder, "empty"));
    for (const name of EXECUTABLES) await compile(`cli/${name}/main.ts`, join(folder, name));
    const commands = [["empty"], ...EXECUTABLES.map((name) => [name, "--help"])];
    const times_ms = commands.map((): number[] => []);
    for (let run = -WARMING_RUNS; run < RUNS; run++) {
      for (const [index, [name = "", ...words]] of commands.entries()) {
        const ms = timeOf(join(folder, name), words);
        if (run >= 0) times_ms[index]!.push(ms);
      }
    }
    const medians = times_ms.map((all) => median(all) ?? NaN);
    return commands.map((words, index) => ({
      name: words.join(" "),
      ms: medians[index]!,
      ratio: medians[index]! / medians[0]!,
    }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function timeOf(program: string, words: readonly string[]): number {
  const started_at = performance.now();
  const { status } = spawnSync(program, words, { stdio: "ignore" });
  const ms = performance.now() - started_at;
  if (status !== 0) throw new Error(`${program} ended with ${status}`);
  return ms;
}

export function printStarts(starts: readonly StartTime[]): void {
  for (const { name, ms, ratio } of starts) {
    console.log(`start of ${name.padEnd(17)} ${ms.toFixed(1).padStart(6)} ms  ${ratio.toFixed(2)} x`);
  }
  const met = starts.every(({ ratio }) => ratio <= START_RATIO_MAX);
  console.log(`aim: at most ${START_RATIO_MAX} x the empty executable: ${met ? "met" : "missed"}`);
}

if (import.meta.main) printStarts(await measureStarts());
