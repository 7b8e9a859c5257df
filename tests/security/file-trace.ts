// Traces a program's file accesses with strace: every path of every system call with a path, and every opened file.
import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { lacking, present } from "../support/optional-programs.ts";

export type FileTrace = {
  /** The absolute paths that the program passed to system calls, whether or not the files exist. */
  readonly tried: readonly string[];
  readonly opened: readonly string[];
};

const run = promisify(execFile);
/** Options of strace: paths in hex, so that their bytes cannot break the format; -y prints the path of descriptors. */
const FLAGS = ["-f", "--seccomp-bpf", "-qq", "-y", "-xx", "-e", "trace=%file", "-e", "signal=none"];

/**
 * Returns the command prefix that traces a program into a file. The program stays a child of the process that starts
 * it.
 */
export function tracedInto(path: string): readonly string[] {
  return [present("strace"), "-D", ...FLAGS, "-o", path];
}

/** Returns null if programs can be traced on this machine, otherwise the reason. */
export async function whyUntraced(): Promise<string | null> {
  const reason = lacking("strace");
  if (reason !== null) return reason;
  const path = join(tmpdir(), `berth-trace-${crypto.randomUUID()}`);
  try {
    const [program = "", ...argv] = tracedInto(path);
    await run(program, [...argv, "true"]);
    return null;
  } catch (error) {
    return `strace cannot trace programs on this machine: ${String((error as { stderr?: string }).stderr).trim()}`;
  } finally {
    await rm(path, { force: true });
  }
}

export type TracePart = {
  /** The folder in which the program was started. */
  readonly cwd: string;
  readonly from_byte?: number;
};

/** Reads the part of the trace that is written so far. */
export async function readTrace(path: string, { cwd, from_byte = 0 }: TracePart): Promise<FileTrace> {
  const tried: string[] = [];
  const opened: string[] = [];
  const text = await readFile(path, "latin1").catch(() => "");
  for (const line of text.slice(from_byte).split("\n")) {
    // A path may be relative to the folder of a descriptor. strace prints this folder before the path.
    for (const [, from, name = ""] of line.matchAll(/(?:<((?:\\x[0-9a-f]{2})+)>, )?"((?:\\x[0-9a-f]{2})*)"/g)) {
      if (name !== "") tried.push(resolve(from === undefined ? cwd : decoded(from), decoded(name)));
    }
    const [, found] = /= \d+<((?:\\x[0-9a-f]{2})+)>$/.exec(line) ?? [];
    if (found !== undefined) opened.push(decoded(found));
  }
  return { tried, opened };
}

export function isBelow(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => path === root || path.startsWith(root + sep));
}

function decoded(hex: string): string {
  return hex.replace(/\\x([0-9a-f]{2})/g, (_, byte) => String.fromCharCode(Number.parseInt(byte, 16)));
}
