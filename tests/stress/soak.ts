// The soak test repeats the random parts of the stress tests with new seeds, until N hours have passed or a part fails.
// deno run -A tests/stress/soak.ts [--hours N] [--seed N]. --seed is the first round's seed; its default is the Unix
// time.
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Option } from "./parts.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const HOUR_MS = 3_600_000;
/** The sizes of one round, which takes about 25 minutes on two cores. */
const ROUND: Readonly<Partial<Record<Option, number>>> = {
  histories: 60_000,
  minutes: 5,
  terminations: 10_000,
  commits: 600,
  reports: 20_000,
  network: 1,
  clocks: 15,
};

const { values } = parseArgs({ options: { hours: { type: "string", default: "6" }, seed: { type: "string" } } });
const hours = Number(values.hours);
const first_seed = Number(values.seed ?? Math.floor(Date.now() / 1_000));
if (!(hours > 0) || !Number.isSafeInteger(first_seed)) {
  throw new Error("--hours must be a number above 0, and --seed a whole number");
}

const end_ms = performance.now() + hours * HOUR_MS;
const histories = ROUND.histories ?? 0;
let rounds = 0;
let code = 0;
while (performance.now() < end_ms && code === 0) {
  const seed = first_seed + rounds * histories;
  rounds += 1;
  console.log(`round ${rounds}, seed ${seed}`);
  code = await round(seed);
}
console.log(
  `${rounds} rounds, ${rounds * histories} histories from seed ${first_seed}: ${code === 0 ? "good" : "broken"}`,
);
process.exit(code);

function round(seed: number): Promise<number> {
  const sizes = Object.entries({ seed, ...ROUND }).flatMap(([name, size]) => [`--${name}`, String(size)]);
  const argv = ["tests/stress/main.ts", "--only", Object.keys(ROUND).join(","), ...sizes];
  const child = spawn(process.execPath, ["run", "-A", ...argv], { cwd: ROOT, stdio: "inherit" });
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (exit) => done(exit ?? 1));
  });
}
