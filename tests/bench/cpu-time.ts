// Reads the processor time of a process and its children from /proc. Only Linux has this file system.
import { readdir, readFile } from "node:fs/promises";

/** Linux reports processor time in ticks of 10 ms on all of Deno's architectures. */
const TICK_MS = 10;

type Stat = { readonly parent: number; readonly own_ms: number; readonly reaped_ms: number };

/**
 * Returns the processor time that a process and its children have used, in milliseconds, including children that have
 * ended. Returns null without /proc.
 */
export async function cpuTime_ms(pid: number): Promise<number | null> {
  const root = await stat(pid);
  if (root === null) return null;
  let total_ms = root.own_ms + root.reaped_ms;
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const child = await stat(Number(name));
    if (child?.parent === pid) total_ms += child.own_ms + child.reaped_ms;
  }
  return total_ms;
}

async function stat(pid: number): Promise<Stat | null> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  if (text === null) return null;
  // The second field is the program's name in parentheses. It may contain any character, so the fields are counted from
  // its end.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ").map(Number);
  const at = (index: number) => fields[index] ?? 0;
  return { parent: at(1), own_ms: (at(11) + at(12)) * TICK_MS, reaped_ms: (at(13) + at(14)) * TICK_MS };
}
