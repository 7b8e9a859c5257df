// Runs one command on one node with ssh, and returns the result. Without a data format such as --json, prints each line
// of output after the node's name.
import { plainText } from "../../../internal/plain-text.ts";
import type { Io } from "../../../internal/io.ts";
import { runSsh, type SshEnd } from "./run.ts";
import { type Connect, sshArgv } from "./ssh-argv.ts";
import type { Target } from "./target.ts";

export type Job = {
  readonly connect: Connect;
  readonly remote: string;
  readonly input: Uint8Array | null;
  readonly limit_s: number;
};

export type NodeResult = {
  readonly server_uuid: string;
  readonly node: string;
  readonly admin_ip: string | null;
  /** The exit code of ssh: the command's, or 255 if ssh failed. Null if ssh did not run, was killed or ran too long. */
  readonly exit_code: number | null;
  /** Null on success. */
  readonly error: string | null;
  readonly stdout: string;
  readonly stderr: string;
  /**
   * True if output beyond the limit was dropped. Output is dropped only with a data format such as --json; otherwise it
   * is printed as it arrives.
   */
  readonly truncated: boolean;
};

const SSH_FAILED = 255;
const KEPT_CHARS_MAX = 4_194_304;

export async function runOnNode(io: Io, target: Target, job: Job): Promise<NodeResult> {
  const kept = { stdout: "", stderr: "", truncated: false };
  const keep = (stream: "stdout" | "stderr") => (line: string) => {
    if (!io.json) return io.environment[stream].write(`${plainText(target.title)}: ${plainLine(line)}\n`);
    if (kept[stream].length + line.length < KEPT_CHARS_MAX) kept[stream] += `${line}\n`;
    else kept.truncated = true;
  };
  const { server_uuid, title: node, admin_ip } = target;
  const about = { server_uuid, node, admin_ip };
  if (admin_ip === null) return { ...about, exit_code: null, error: "it has no admin_ip", ...kept };
  const end = await runSsh(io.environment, {
    argv: sshArgv(job.connect, admin_ip, job.remote),
    input: job.input,
    limit_ms: job.limit_s * 1_000,
    out: keep("stdout"),
    err: keep("stderr"),
  });
  return { ...about, exit_code: end.kind === "exited" ? end.code : null, error: errorOf(end, job), ...kept };
}

function errorOf(end: SshEnd, { limit_s }: Job): string | null {
  switch (end.kind) {
    case "not_started":
      return `cannot start ssh: ${end.why}`;
    case "timed_out":
      return `still running after ${limit_s} s; the connection was closed, but the command may continue on the node`;
    case "killed":
      return `ssh was killed by ${end.signal}`;
    case "exited":
      if (end.code === 0) return null;
      return end.code === SSH_FAILED ? "ssh failed (exit 255)" : `exit ${end.code}`;
  }
}

/** Keeps tabs and escapes every other control character. */
function plainLine(line: string): string {
  return line.split("\t").map(plainText).join("\t");
}
