// Continues guests that QEMU paused because the node's disk was full. Such a guest continues without damage when there
// is space again.
import { statfs } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Host } from "./host.ts";
import type { VmMonitor } from "./vm-monitor.ts";

/** Pause between checks for free space. */
const CHECK_MS = 2_000;
/** Free space at which the guests continue: less would only pause them again. */
export const SPACE_BYTES_MIN = 256 * 2 ** 20;

/** Returns a function that waits in the background for space, and then continues the guest. */
export function createSpaceWaiter(
  { folders, signal, log }: Pick<Host, "folders" | "signal" | "log">,
  find: (id: string) => Pick<VmMonitor, "qmp" | "console"> | undefined,
): (id: string) => void {
  const waiting = new Set<string>();

  async function wait(id: string): Promise<void> {
    log(`VM ${id}: waits, because the node's disk is full`);
    find(id)?.console.note("the node's disk is full: the machine waits, and continues when there is space");
    for (;;) {
      await sleep(CHECK_MS, undefined, { ref: false });
      const monitor = find(id);
      if (signal.aborted || monitor === undefined) return;
      if (await freeBytes(folders.machine_dir) < SPACE_BYTES_MIN) continue;
      await monitor.qmp.execute("cont");
      monitor.console.note("the node's disk has space again: the machine continues");
      return log(`VM ${id}: continues, because the node's disk has space again`);
    }
  }

  return (id) => {
    if (waiting.has(id)) return;
    waiting.add(id);
    void wait(id).catch((error) => log(`VM ${id}: ${error.message}`)).finally(() => waiting.delete(id));
  };
}

/** Returns the free bytes of a folder's file system. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
