// Finds QEMU processes by the UUID on their command line. A process id alone proves nothing, because Linux reuses ids.
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

const PROC = "/proc";
const ROOT_UID = 0;
/** Pause between checks whether a process has ended. */
const CHECK_MS = 20;

/** Returns the ids of the processes of a VM: QEMU, or a program that is about to become QEMU. */
export async function processesOf(vm: { readonly id: string; readonly uid: number }): Promise<readonly number[]> {
  const pids = (await readdir(PROC)).filter((name) => /^[0-9]+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map(async (pid) => await isOf(pid, vm) ? [pid] : []));
  return found.flat();
}

/** Ends the processes of a VM and waits until they are gone. Throws an Error if one is still there after the limit. */
export async function killProcesses(
  vm: { readonly id: string; readonly uid: number },
  limit_ms: number,
): Promise<void> {
  const end_ms = performance.now() + limit_ms;
  for (;;) {
    const pids = await processesOf(vm);
    if (pids.length === 0) return;
    if (performance.now() > end_ms) throw new Error(`process ${pids.join(", ")} of VM ${vm.id} does not end`);
    for (const pid of pids) kill(pid);
    await sleep(CHECK_MS);
  }
}

/** Waits until the VM has no process. Returns false if it still has one after the limit. */
export async function waitForEnd(
  vm: { readonly id: string; readonly uid: number },
  limit_ms: number,
): Promise<boolean> {
  const end_ms = performance.now() + limit_ms;
  for (;;) {
    if ((await processesOf(vm)).length === 0) return true;
    if (performance.now() > end_ms) return false;
    await sleep(CHECK_MS);
  }
}

/** Returns whether a process of the VM has the file open. */
export async function hasOpen(vm: { readonly id: string; readonly uid: number }, path: string): Promise<boolean> {
  const file = await stat(path).catch(() => null);
  if (file === null) return false;
  for (const pid of await processesOf(vm)) {
    const folder = join(PROC, String(pid), "fd");
    const names = await readdir(folder).catch(() => []);
    // The paths of a process may differ from the paths of the agent, so the files are compared.
    const opened = await Promise.all(names.map((name) => stat(join(folder, name)).catch(() => null)));
    if (opened.some((each) => each?.ino === file.ino && each.dev === file.dev)) return true;
  }
  return false;
}

async function isOf(pid: number, { id, uid }: { readonly id: string; readonly uid: number }): Promise<boolean> {
  try {
    const words = (await readFile(join(PROC, String(pid), "cmdline"), "utf8")).split("\0");
    // Skips systemd-run: its command line contains QEMU's command line, but systemd-run ends once the unit runs.
    if (words[words.indexOf("-uuid") + 1] !== id || words[0]?.endsWith("systemd-run")) return false;
    const status = await readFile(join(PROC, String(pid), "status"), "utf8");
    if (/^State:\s*Z/m.test(status)) return false;
    const owner = Number(/^Uid:\s*([0-9]+)/m.exec(status)?.[1]);
    return owner === uid || owner === ROOT_UID;
  } catch {
    return false; // The process ended while its files were read.
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended in the meantime.
  }
}
