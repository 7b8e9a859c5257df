// Recognizes the errors of writes to a full disk. After such an error, the agent continues without the records that it
// needs only after a crash. So it can still remove instances and their disks, which frees space.
import { setTimeout as sleep } from "node:timers/promises";

/** Pause between two attempts to write to a full disk. */
const RETRY_MS = 5_000;

/** Returns whether a write failed because the file system is full or a quota is used up. */
export function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOSPC" || code === "EDQUOT";
}

/** For `catch`: ignores a full disk, and throws every other error. */
export function ignoreFullDisk(error: unknown): void {
  if (!isDiskFull(error)) throw error;
}

/** Repeats work while the disk is full, until `signal` aborts. Calls `onFull` with the first of these errors. */
export async function untilRoom(
  work: () => Promise<void>,
  { signal, onFull }: { readonly signal: AbortSignal; readonly onFull: (error: Error) => void },
): Promise<void> {
  for (let is_known = false;;) {
    try {
      return await work();
    } catch (error) {
      if (!isDiskFull(error) || signal.aborted) throw error;
      if (!is_known) onFull(error as Error);
      is_known = true;
      await sleep(RETRY_MS, undefined, { ref: false });
    }
  }
}
