// Checks that the control plane's unit allows the system calls of Deno. Any other system call fails
// with EPERM.
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { ROOT } from "../guides/run.ts";
import { readText } from "../lint/sources.ts";
import { needs, present } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { parseUnit } from "./unit.ts";

test("the control plane's unit allows each system call that Deno makes", async (context) => {
  needs(context, "strace", "systemd-analyze");
  const folder = await temporaryFolder("system-calls");
  context.onTestFinished(() => folder.remove());
  const counted = join(folder.path, "counted");
  const program = [process.execPath, "run", "-A", "--quiet", "src/permissions.ts"];
  execFileSync(present("strace"), ["-f", "-qq", "-c", "-S", "name", "-U", "name", "-o", counted, ...program], {
    cwd: ROOT,
    stdio: "ignore",
  });
  const made = (await readFile(counted, "utf8")).split("\n").map((line) => line.trim())
    .filter((line) => /^\w+$/.test(line) && line !== "syscall" && line !== "total");
  expect(made).toContain("execve");
  const filter = parseUnit(readText("cli/release/files/berth-control-plane.service")).one("SystemCallFilter");
  const allowed = new Set(filter.split(" ").flatMap(callsOf));
  expect(made.filter((call) => !allowed.has(call))).toEqual([]);
});

/** Returns the system calls of a group of systemd, such as `@system-service`. Groups contain other groups. */
function callsOf(name: string): readonly string[] {
  if (!name.startsWith("@")) return [name];
  const listed = execFileSync(present("systemd-analyze"), ["syscall-filter", name], { encoding: "utf8" });
  const names = listed.split("\n").slice(1).map((line) => line.trim());
  return names.filter((each) => each !== "" && !each.startsWith("#")).flatMap(callsOf);
}
