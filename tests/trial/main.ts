// The long trial: histories of the simulator; mistakes made on purpose, all of which must be found; pairs of commands
// in every order on a real PostgreSQL; real servers and a real PostgreSQL that are killed at random under load; creates of
// instances at once on many nodes, during which a server is killed.
// Options, each with its default: --histories 100000 --seed 1 --planted 1 --pairs 1 (each nth) --minutes 5 (of kills)
// --creates 1000. With 0 a part is left out.
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
    minutes: { type: "string", default: "5" },
    creates: { type: "string", default: String(CREATES) },
  },
});

const results = [
  values.histories === "0" || await part("simulator/main.ts", "--histories", values.histories, "--seed", values.seed),
  values.planted === "0" || await part("simulator/main.ts", "--planted"),
  values.planted === "0" || await part("trial/planted.ts"),
  values.pairs === "0" || await part("trial/pairs.ts", "--every", values.pairs),
  values.minutes === "0" || await kills(Number(values.minutes)),
  values.creates === "0" || printCreates(await runCreates(Number(values.creates))),
];
process.exit(results.every((good) => good) ? 0 : 1);

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
