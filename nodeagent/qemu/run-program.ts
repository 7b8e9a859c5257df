// Runs programs of the node. The arguments hold no secrets, because other users of the machine can read the arguments
// of a program.
import { execFile } from "node:child_process";
import process from "node:process";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";

/** Time limit of a program that only changes the kernel's state or reads a small file. */
export const PROGRAM_LIMIT_MS = 30_000;
/**
 * Maximum output of a program, and maximum length of its text in an error message. The agent kills a program that
 * writes more output.
 */
const OUTPUT_BYTES_MAX = 4 * 2 ** 20;
const REASON_CHARS_MAX = 400;

/** A program failed. `stderr` is its error output, or a text that the program is not installed. */
export class ProgramFailed extends Failure {
  constructor(
    readonly program: string,
    readonly stderr: string,
    /** Signal that ended the program; null if the program ended itself or did not start. */
    readonly signal: string | null,
    /** Exit code; null if a signal ended the program, or it did not start. */
    readonly code: number | null = null,
  ) {
    const why = stderr.trim() === "" ? signal === null ? "it failed" : `ended by ${signal}` : stderr.trim();
    super(`${program}: ${why.slice(-REASON_CHARS_MAX)}`, EXIT.failure);
  }
}

export type RunOptions = {
  readonly limit_ms?: number;
  readonly cwd?: string;
  readonly name?: string;
  /** If it is aborted, the program is killed. The call throws the signal's reason after the end of the program. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * Returns the environment of the node's programs: a PATH with root's programs, and the locale C for English messages.
 */
export function programEnvironment(): Record<string, string> {
  const path = process.env.PATH ?? "";
  return { PATH: `${path}:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin`, LC_ALL: "C" };
}

/**
 * Runs a program and returns its output. Throws a ProgramFailed if it fails, is missing, takes too long or prints too
 * much.
 */
export function runProgram(argv: readonly string[], options: RunOptions = {}): Promise<string> {
  const [program = "", ...rest] = argv;
  const { limit_ms = PROGRAM_LIMIT_MS, cwd, name = program, signal } = options;
  const limits = { timeout: limit_ms, killSignal: "SIGKILL", maxBuffer: OUTPUT_BYTES_MAX } as const;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const kill = () => void child.kill("SIGKILL");
    const child = execFile(
      program,
      rest,
      { ...limits, cwd, env: programEnvironment(), encoding: "utf8" },
      (error, stdout, stderr) => {
        signal?.removeEventListener("abort", kill);
        if (error === null) return resolve(stdout);
        if (signal?.aborted === true) return reject(signal.reason);
        const missing = error.code as unknown === "ENOENT" ? `${program} is not installed` : stderr;
        const code = typeof error.code === "number" ? error.code : null;
        reject(new ProgramFailed(name, missing, error.signal ?? null, code));
      },
    );
    signal?.addEventListener("abort", kill, { once: true });
  });
}
