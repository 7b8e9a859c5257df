// Runs programs that read untrusted files. They run with limits and without network. Their user is SANDBOX_UID or the
// user of one VM, so they cannot open the files of other VMs.
import { type RunOptions, runProgram } from "./run-program.ts";

/** User and group of these programs. The ids of VMs' users follow directly after this id. */
export const SANDBOX_UID = 199_999;
/** Address space of such a program. qemu-img reserves far more than it uses. */
const ADDRESS_SPACE_BYTES = 8 * 2 ** 30;
const OPEN_FILES_MAX = 64;

export type SandboxOptions = RunOptions & {
  /** Largest file that the program may write. */
  readonly file_bytes_max: number;
  readonly processor_s_max: number;
  /** User and group of the program; by default SANDBOX_UID. */
  readonly uid?: number;
};

/** Returns the command line of a limited program. Exported for its test. */
export function sandboxArgv(
  command: readonly string[],
  { file_bytes_max, processor_s_max, uid = SANDBOX_UID }: SandboxOptions,
): string[] {
  return [
    "unshare",
    "--net",
    "--ipc",
    "--",
    "prlimit",
    `--as=${ADDRESS_SPACE_BYTES}`,
    `--fsize=${file_bytes_max}`,
    `--cpu=${processor_s_max}`,
    `--nofile=${OPEN_FILES_MAX}`,
    "--core=0",
    "--",
    "setpriv",
    `--reuid=${uid}`,
    `--regid=${uid}`,
    "--clear-groups",
    "--no-new-privs",
    "--bounding-set=-all",
    "--inh-caps=-all",
    ...command,
  ];
}

/** Runs a limited program and returns its output. Throws a ProgramFailed if it fails or exceeds a limit. */
export function runUnprivileged(command: readonly string[], options: SandboxOptions): Promise<string> {
  return runProgram(sandboxArgv(command, options), { name: command[0] ?? "", ...options });
}
