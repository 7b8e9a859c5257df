// The long trial: histories of the simulator, then real servers and a real PostgreSQL that are killed at random under load.
// Options: --minutes N of kills (default 5), --histories N of the simulator (default 100000, 0 for none).
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runKills } from "./kills.ts";
import { printReport } from "./report.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "5" }, histories: { type: "string", default: "100000" } },
});

const simulated = Number(values.histories) > 0 ? await simulate(values.histories) : 0;
const report = await runKills(Number(values.minutes) * 60_000);
printReport(report);
process.exit(simulated === 0 && report.violations.length === 0 && report.silent.length === 0 ? 0 : 1);

/** Its report goes straight to the terminal. */
function simulate(histories: string): Promise<number> {
  const words = ["run", "-A", "tests/simulator/main.ts", "--histories", histories];
  const child = spawn(process.execPath, words, { cwd: ROOT, stdio: "inherit" });
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => done(code ?? 1));
  });
}
