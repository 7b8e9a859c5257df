// Lets only one builder at a time work on a site. The lock is a series of numbered files in the folder of generations.
// The file with the highest number names a process, which holds the lock while it runs. To take the lock, a builder
// creates the file with the next number; only one builder can create this file. To release the lock, the builder marks
// its file as free. A builder removes a file only if a file with a higher number exists. So no number is used twice.
import { link, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";

export type Lock = { release(): Promise<void> };
const NAME = /^lock\.(\d{1,15})$/;
const FREE = "free";

/** Takes the lock. Returns null if another builder holds it. */
export async function takeLock(folder: string, processes: Processes = ALL_PROCESSES): Promise<Lock | null> {
  const seen = Math.max(0, ...await numbers(folder));
  if (seen > 0 && await isHeld(join(folder, `lock.${seen}`), processes)) return null;
  const mine = seen + 1;
  const path = join(folder, `lock.${mine}`);
  const draft = join(folder, `lock-draft.${process.pid}.${crypto.randomUUID()}`);
  await writeFile(draft, await holderOf(process.pid, processes));
  try {
    // A hard link appears with its content, and fails if the name exists.
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return null;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const all = await numbers(folder);
  if (Math.max(...all) !== mine) {
    await rm(path, { force: true });
    return null;
  }
  for (const older of all) if (older < mine) await rm(join(folder, `lock.${older}`), { force: true });
  return { release: () => markFree(folder, path) };
}

async function markFree(folder: string, path: string): Promise<void> {
  const draft = join(folder, `lock-draft.${process.pid}.${crypto.randomUUID()}`);
  await writeFile(draft, FREE);
  await rename(draft, path);
}

async function numbers(folder: string): Promise<number[]> {
  return (await readdir(folder)).flatMap((name) => {
    const match = NAME.exec(name);
    return match === null ? [] : [Number(match[1])];
  });
}

async function isHeld(path: string, processes: Processes): Promise<boolean> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    // The file is gone: another builder just took a higher number and is running.
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return true;
  if (text === FREE) return false;
  const pid = Number(text.split(" ")[0]);
  if (!Number.isSafeInteger(pid)) return false;
  const holder = await holderOf(pid, processes);
  // A process whose start time cannot be read may be the holder.
  return holder === text || holder === `${pid} ${UNKNOWN}`;
}

export type Processes = {
  /** Returns the content of /proc/PID/stat; null if the process does not exist, or this user may not see it. */
  readonly stat: (pid: number) => Promise<string | null>;
  /**
   * Sends the signal 0, which only checks the process. Throws a system error if the process does not exist, or this
   * user may not send it signals.
   */
  readonly check: (pid: number) => void;
};
const ALL_PROCESSES: Processes = {
  stat: (pid) => readFile(`/proc/${pid}/stat`, "utf8").catch(() => null),
  check: (pid) => void process.kill(pid, 0),
};
/** Replaces a start time that cannot be read. */
const UNKNOWN = "-";

/**
 * Returns an identifier of a process: its id and, on Linux, its start time, because the system reuses ids. Returns
 * "none" if no process has this id.
 */
async function holderOf(pid: number, { stat, check }: Processes): Promise<string> {
  const found = await stat(pid);
  if (found !== null) return `${pid} ${found.slice(found.lastIndexOf(")") + 2).split(" ")[19]}`;
  try {
    check(pid);
  } catch (error) {
    // A process of another user exists: this user may not send it a signal.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return "none";
  }
  return `${pid} ${UNKNOWN}`;
}
