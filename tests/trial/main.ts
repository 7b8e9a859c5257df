// The long trial: histories of the simulator; mistakes made on purpose, all of which must be found; pairs of commands
// in every order on a real PostgreSQL; real servers and a real PostgreSQL that are killed at random under load; the same on
// a network that fails, and by clocks that are wrong; creates of instances at once on many nodes, during which a server is
// killed.
// Options, each with its default: --histories 100000 --seed 1 --planted 1 --pairs 1 (each nth) --minutes 3 (of kills)
// --network 1 (rounds) --clocks 30 (seconds of load) --creates 1000. With 0 a part is left out.
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CREATES, printCreates, runCreates } from "./creates.ts";
import { runKills } from "./kills.ts";
import { printReport } from "./report.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const { values } = parseArgs({
  options: {
    histories: { type: "string", default: "100000" },
    seed: { type: "string", default: "1" },
    planted: { type: "string", default: "1" },
    pairs: { type: "string", default: "1" },
    minutes: { type: "string", default: "3" },
    network: { type: "string", default: "1" },
    clocks: { type: "string", default: "30" },
    creates: { type: "string", default: String(CREATES) },
  },
});

/** By its option. Each answers whether all was well. */
const PARTS: readonly (readonly [option: keyof typeof values, run: () => Promise<boolean>])[] = [
  ["histories", () => histories(Number(values.histories), Number(values.seed))],
  ["planted", () => part("simulator/main.ts", "--planted")],
  ["planted", () => part("trial/planted.ts")],
  ["pairs", () => part("trial/pairs.ts", "--every", values.pairs)],
  ["minutes", () => kills(Number(values.minutes))],
  ["network", () => part("trial/network.ts", "--rounds", values.network)],
  ["clocks", () => part("trial/clocks.ts", "--seconds", values.clocks)],
  ["creates", async () => printCreates(await runCreates(Number(values.creates)))],
];

const said: string[] = [];
let broken = 0;
for (const [option, run] of PARTS) {
  if (values[option] === "0") continue;
  const start_ms = performance.now();
  const good = await run();
  if (!good) broken += 1;
  said.push(
    `${option.padEnd(10)} ${good ? "good  " : "broken"} ${Math.round((performance.now() - start_ms) / 1_000)} s`,
  );
}
for (const line of said) console.log(line);
process.exit(broken === 0 ? 0 : 1);

/** In two halves at once, one for each core. */
async function histories(count: number, seed: number): Promise<boolean> {
  if (!Number.isSafeInteger(count) || !Number.isSafeInteger(seed)) {
    throw new Error("--histories and --seed take numbers");
  }
  const half = Math.ceil(count / 2);
  const halves = [{ count: half, seed }, { count: count - half, seed: seed + half }].filter(({ count }) => count > 0);
  const good = await Promise.all(
    halves.map((each) => part("simulator/main.ts", "--histories", String(each.count), "--seed", String(each.seed))),
  );
  return good.every((each) => each);
}

async function kills(minutes: number): Promise<boolean> {
  const report = await runKills(minutes * 60_000);
  printReport(report);
  return report.violations.length === 0 && report.silent.length === 0;
}

/** A part that is a program of its own. Its report goes straight to the terminal. */
function part(file: string, ...options: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, ["run", "-A", `tests/${file}`, ...options], { cwd: ROOT, stdio: "inherit" });
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => done(code === 0));
  });
}
