// Continues guests that QEMU paused because the node's disk was full. Such a guest continues without damage when there
// is space again.
import { statfs } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Host } from "./host.ts";
import type { VmMonitor } from "./vm-monitor.ts";

/** Pause between checks for free space. */
const CHECK_MS = 2_000;
/** Free space at which the guests continue: with less space, QEMU would soon pause them again. */
export const SPACE_BYTES_MIN = 256 * 2 ** 20;

/** The state of a guest that QEMU paused because of a failed write. */
const NO_SPACE_STATUS = "io-error";

/** Returns a function that waits in the background for space, and then continues the guest. */
export function createSpaceWaiter(
  { folders, signal, log }: Pick<Host, "folders" | "signal" | "log">,
  find: (id: string) => Pick<VmMonitor, "qmp" | "console"> | undefined,
): (id: string) => void {
  const waiting = new Set<string>();

  /** Returns the monitor of the guest when there is space; undefined if the guest or the agent has ended. */
  async function untilSpace(id: string): Promise<Pick<VmMonitor, "qmp" | "console"> | undefined> {
    for (;;) {
      await sleep(CHECK_MS, undefined, { ref: false });
      const monitor = find(id);
      if (signal.aborted || monitor === undefined) return undefined;
      if (await freeBytes(folders.machine_dir) >= SPACE_BYTES_MIN) return monitor;
    }
  }

  async function wait(id: string): Promise<void> {
    log(`VM ${id}: waits, because the node's disk is full`);
    find(id)?.console.note("the node's disk is full: the machine waits, and continues when there is space");
    const monitor = await untilSpace(id).finally(() => waiting.delete(id));
    if (monitor === undefined) return;
    // A guest may have moved to another node meanwhile. Then it is paused in another state, and must not run here
    // again.
    const { status } = await monitor.qmp.execute("query-status");
    if (status !== NO_SPACE_STATUS) return;
    monitor.console.note("the node's disk has space again: the machine continues");
    log(`VM ${id}: continues, because the node's disk has space again`);
    // The answer to `cont` may arrive together with the event that the disk is full again. The event must start another
    // wait, so this wait was removed from `waiting` before the command.
    await monitor.qmp.execute("cont");
  }

  return (id) => {
    if (waiting.has(id)) return;
    waiting.add(id);
    void wait(id).catch((error) => log(`VM ${id}: ${error.message}`));
  };
}

/** Returns the free bytes of a folder's file system. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
