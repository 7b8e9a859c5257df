// What other users of a machine can see of a process and of what it started: arguments and environments. Linux only.
import { existsSync, readdirSync, readFileSync } from "node:fs";

export type ProcessView = { readonly pid: number; readonly argv: string; readonly environment: string };

export function canLook(): boolean {
  return existsSync("/proc/self/environ");
}

/** The processes below `pid`, in whatever depth, without itself. */
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
  // The name of a program, in brackets, may hold anything.
  const fields = text(pid, "stat").split(")").at(-1)?.trim().split(" ") ?? [];
  return Number(fields[1] ?? 0);
}

/** Empty when the process has ended, or is not ours to look at. */
function text(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
