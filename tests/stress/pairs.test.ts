// Runs a few pairs of each kind of the stress test's pairs. Only `deno task trial` runs all pairs, and it does not run
// at every change. This test notices at once if a fixture no longer starts.
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const EVERY_NTH = 60;

test("pairs of commands on nodes, and of operations on parents and on instances, break no invariant", async () => {
  const argv = ["tests/stress/main.ts", "--only", "pairs", "--pairs", String(EVERY_NTH)];
  const child = spawn(process.execPath, ["run", "-A", ...argv], { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => out += text);
  const code = await new Promise((done) => child.once("close", done));
  expect(code, out).toBe(0);
  for (const kind of ["nodes", "parents", "hosts"]) expect(out).toMatch(new RegExp(`^pairs on ${kind} +good `, "m"));
}, 300_000);
