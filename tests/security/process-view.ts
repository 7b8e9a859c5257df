// Reads the arguments and environments of processes. Every user of the machine can read the arguments. Only root and
// the user that runs a process can read the process's environment. Linux only.
import { existsSync, readdirSync, readFileSync } from "node:fs";

export type ProcessView = { readonly pid: number; readonly argv: string; readonly environment: string };

export function canViewProcesses(): boolean {
  return existsSync("/proc/self/environ");
}

/** Returns all descendants of `pid`. */
export function descendants(pid: number): ProcessView[] {
  const parents = new Map(processes().map((each) => [each, parentOf(each)]));
  const isBelow = (each: number): boolean => {
    const parent = parents.get(each);
    return parent !== undefined && parent > 0 && (parent === pid || isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow).map(view);
}

export function view(pid: number): ProcessView {
  return { pid, argv: text(pid, "cmdline"), environment: text(pid, "environ") };
}

function processes(): number[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number);
}

function parentOf(pid: number): number {
  // The program's name, in brackets, may contain any character.
  const fields = text(pid, "stat").split(")").at(-1)?.trim().split(" ") ?? [];
  return Number(fields[1] ?? 0);
}

/** Reads a file of a process. Empty when the process has ended or access is denied. */
function text(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
