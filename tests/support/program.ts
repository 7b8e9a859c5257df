// Starts programs as processes that a test waits for or kills.
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export type Program = {
  readonly child: ChildProcess;
  /** Resolves with the first printed line. Rejects when the program ends without a line. */
  readonly firstLine: Promise<string>;
  /** Resolves when the program has ended. */
  readonly ended: Promise<void>;
};

/** Starts tests/support/programs/NAME.ts under this Deno. */
export function startProgram(name: string, ...argv: string[]): Program {
  const file = fileURLToPath(new URL(`./programs/${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, ["run", "-A", file, ...argv], {
    cwd: fileURLToPath(new URL("../../", import.meta.url)),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((done) => child.once("close", () => done()));
  const firstLine = new Promise<string>((line, fail) => {
    createInterface({ input: child.stdout }).once("line", line);
    child.once("close", (code, signal) => fail(new Error(`${name} ended without output: ${signal ?? code}`)));
  });
  firstLine.catch(() => {}); // Prevents an unhandled rejection in a test that waits only for `ended`.
  return { child, firstLine, ended };
}
