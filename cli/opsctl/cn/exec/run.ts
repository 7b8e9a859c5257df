// Runs ssh once and returns how it ended.
import { spawn } from "node:child_process";
import type { Environment } from "../../../internal/environment.ts";
import { lines } from "./output-lines.ts";

export type SshRun = {
  readonly argv: readonly string[];
  /** Standard input of ssh; null for empty input. */
  readonly input: Uint8Array | null;
  readonly limit_ms: number;
  out(line: string): void;
  err(line: string): void;
};

export type SshEnd =
  /** ssh itself could not be started. */
  | { readonly kind: "not_started"; readonly why: string }
  | { readonly kind: "timed_out" }
  /** The command's exit code. ssh itself exits with 255 if the connection failed. */
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "killed"; readonly signal: string };

/** Time for ssh to end after SIGTERM. */
const KILL_AFTER_MS = 2_000;

/** Resolves when ssh has ended. Aborting the environment ends ssh. */
export function runSsh(environment: Environment, { argv, input, limit_ms, out, err }: SshRun): Promise<SshEnd> {
  return new Promise((resolve) => {
    const child = spawn("ssh", [...argv], { env: { ...environment.env }, stdio: ["pipe", "pipe", "pipe"] });
    let timed_out = false;
    let killer: ReturnType<typeof setTimeout> | undefined;
    const stop = () => {
      child.kill("SIGTERM");
      killer ??= setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS);
    };
    const timer = setTimeout(() => {
      timed_out = true;
      stop();
    }, limit_ms);
    const finish = (end: SshEnd) => {
      clearTimeout(timer);
      clearTimeout(killer);
      environment.signal.removeEventListener("abort", stop);
      resolve(end);
    };
    const [out_lines, err_lines] = [lines(out), lines(err)];
    child.stdout.on("data", out_lines.take);
    child.stderr.on("data", err_lines.take);
    child.once("error", (error) => finish({ kind: "not_started", why: error.message }));
    child.once("close", (code, signal) => {
      out_lines.end();
      err_lines.end();
      if (timed_out) finish({ kind: "timed_out" });
      else finish(code === null ? { kind: "killed", signal: String(signal) } : { kind: "exited", code });
    });
    // ssh may end before it has read all input.
    child.stdin.on("error", () => {});
    child.stdin.end(input ?? undefined);
    if (environment.signal.aborted) stop();
    else environment.signal.addEventListener("abort", stop, { once: true });
  });
}
