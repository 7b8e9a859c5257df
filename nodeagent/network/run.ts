// Runs programs that change the kernel's networks. Some of the programs read commands from their input.
import { execFile } from "node:child_process";
import { programEnvironment } from "../qemu/run-program.ts";

/** Runs a program and returns its output. Throws an Error with what the program wrote to its error output. */
export type Run = (argv: readonly string[], input?: string) => Promise<string>;

/** Time limit of one command. Programming 2,000 NICs takes 0.3 s. NAT_GATEWAY_FENCE_S includes this limit. */
const COMMAND_LIMIT_MS = 30_000;

export const runProgram: Run = (argv, input = "") => {
  const [program = "", ...words] = argv;
  const limits = { timeout: COMMAND_LIMIT_MS, maxBuffer: Infinity, env: programEnvironment() };
  return new Promise((done, fail) => {
    const child = execFile(program, words, limits, (error, out, said) => {
      if (error === null) return done(out);
      // The declared type of `code` is number, but for a missing program it is the text ENOENT.
      const is_missing = error.code as unknown === "ENOENT";
      fail(
        // The reason comes first: the command may be long, and reports cut long texts.
        new Error(is_missing ? `${program} is not installed` : `${said.trim() || error.message} (${argv.join(" ")})`),
      );
    });
    // If a program ends before it has read its input, the write fails. The program's exit code reports the failure.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
};
