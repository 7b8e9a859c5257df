// The soak: the parts of the trial that chance decides, over and over with other seeds, until the hours are over or
// something breaks: deno run -A tests/trial/soak.ts --hours N [--seed N]   (the first seed; by default the time)
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const HOUR_MS = 3_600_000;
/** Of one round: about twenty minutes on two cores. */
const HISTORIES = 50_000;
const KILL_MINUTES = 8;

const { values } = parseArgs({ options: { hours: { type: "string", default: "6" }, seed: { type: "string" } } });
const hours = Number(values.hours);
const first_seed = Number(values.seed ?? Math.floor(Date.now() / 1_000));
if (!(hours > 0) || !Number.isSafeInteger(first_seed)) throw new Error("--hours takes a number, --seed a whole one");

const end_ms = performance.now() + hours * HOUR_MS;
let rounds = 0;
let code = 0;
while (performance.now() < end_ms && code === 0) {
  const seed = first_seed + rounds * HISTORIES;
  rounds += 1;
  console.log(`round ${rounds}, seed ${seed}`);
  code = await round(seed, Math.min(KILL_MINUTES, Math.max(1, Math.ceil((end_ms - performance.now()) / 60_000))));
}
console.log(
  `${rounds} rounds, ${rounds * HISTORIES} histories from seed ${first_seed}: ${code === 0 ? "good" : "broken"}`,
);
process.exit(code);

function round(seed: number, kill_minutes: number): Promise<number> {
  const options = { histories: HISTORIES, seed, planted: 0, pairs: 0, minutes: kill_minutes, network: 1, clocks: 15 };
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(process.execPath, ["run", "-A", "tests/trial/main.ts", ...words], {
    cwd: ROOT,
    stdio: "inherit",
  });
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (exit) => done(exit ?? 1));
  });
}
