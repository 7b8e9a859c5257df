// Which files a program asks the system for, by strace: every path of every call that takes one, and every path that was
// opened, whatever it was opened by.
import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { lacking, present } from "../support/optional-programs.ts";

export type FileTrace = {
  /** Absolute, as they were asked for. */
  readonly tried: readonly string[];
  readonly opened: readonly string[];
};

const run = promisify(execFile);
/** Paths in hex, so that no byte of one is taken for the form around it; -y writes the path behind each descriptor. */
const FLAGS = ["-f", "--seccomp-bpf", "-qq", "-y", "-xx", "-e", "trace=%file", "-e", "signal=none"];

/** What a program is started by, to be traced into a file. It stays the child of whoever starts it. */
export function tracedInto(path: string): readonly string[] {
  return [present("strace"), "-D", ...FLAGS, "-o", path];
}

/** Null where programs can be traced, else why not. */
export async function whyUntraced(): Promise<string | null> {
  const reason = lacking("strace");
  if (reason !== null) return reason;
  const path = join(tmpdir(), `berth-trace-${crypto.randomUUID()}`);
  try {
    const [program = "", ...words] = tracedInto(path);
    await run(program, [...words, "true"]);
    return null;
  } catch (error) {
    return `strace may not trace here: ${String((error as { stderr?: string }).stderr).trim()}`;
  } finally {
    await rm(path, { force: true });
  }
}

export type TracePart = {
  /** Where the program was started. */
  readonly cwd: string;
  readonly from_byte?: number;
};

/** What the file holds so far. */
export async function readTrace(path: string, { cwd, from_byte = 0 }: TracePart): Promise<FileTrace> {
  const tried: string[] = [];
  const opened: string[] = [];
  const text = await readFile(path, "latin1").catch(() => "");
  for (const line of text.slice(from_byte).split("\n")) {
    // Each path stands after the folder that it starts from, where the call names one.
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
