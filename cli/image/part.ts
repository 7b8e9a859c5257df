// Stores an unfinished download in a folder `.NAME.PID.part` beside the future file, with the bytes so far and their
// identity. If the process PID has ended, another process may take over the folder by a rename to its own process id.
// Only one rename succeeds. So only one process writes to the file that is checked and then gets the final name.
import { constants } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";

export type Part = {
  readonly path: string;
  /** Returns the number of bytes written so far. */
  bytes(): number;
  /** Returns the server's validator of this version of the file (for If-Range), or null. */
  validator(): string | null;
  /** Returns whether the bytes may come from several responses, and so from two versions of the file. */
  isPieced(): boolean;
  /** Notes that the next bytes come from another response. */
  resume(): void;
  write(chunk: Uint8Array): Promise<void>;
  /** Discards the bytes. `validator` belongs to the bytes that follow. */
  restart(validator: string | null): Promise<void>;
  /** Syncs the bytes to the disk and gives them their final name. */
  finish(): Promise<void>;
  /** Keeps the bytes for the next run; without bytes, removes the folder. */
  leave(): Promise<void>;
  discard(): Promise<void>;
};

const CONTENT = "content";
const OF = "of.json";

/**
 * Opens or takes over the unfinished download of a file.
 * @param identity identifies the file; kept bytes of another file are discarded
 * @param has_digest whether a digest will detect wrong bytes; if false, kept bytes without a validator are discarded
 */
export async function openPart(
  target: string,
  { identity, has_digest }: { identity: string; has_digest: boolean },
): Promise<Part> {
  const folder = join(dirname(target), `.${basename(target)}.${process.pid}.part`);
  await claim(target, folder);
  await mkdir(folder, { recursive: true });
  const path = join(folder, CONTENT);
  const kept = await readOf(folder);
  const usable = kept !== null && kept.identity === identity && (has_digest || kept.validator !== null);
  const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o644);
  if (!usable) await file.truncate(0);
  let bytes = (await file.stat()).size;
  let pieced = bytes > 0;
  let validator = usable ? kept.validator : null;
  const note = () => writeFile(join(folder, OF), JSON.stringify({ identity, validator }));
  await note();
  let closed = false;
  const close = async () => {
    if (!closed) await file.close();
    closed = true;
  };
  const discard = async () => {
    await close();
    await rm(folder, { recursive: true, force: true });
  };
  return {
    path,
    bytes: () => bytes,
    validator: () => validator,
    isPieced: () => pieced,
    resume: () => void (pieced = true),
    write: async (chunk) => {
      await writeWhole(file, chunk, bytes);
      bytes += chunk.length;
    },
    restart: async (next) => {
      await file.truncate(0);
      bytes = 0;
      pieced = false;
      validator = next;
      await note();
    },
    finish: async () => {
      await file.sync();
      await close();
      await rename(path, target);
      await syncFolder(dirname(target));
      await rm(folder, { recursive: true, force: true });
    },
    leave: async () => {
      if (bytes === 0) return await discard();
      await close();
    },
    discard,
  };
}

/** Takes over the unfinished download of a process that has ended, if there is one. */
async function claim(target: string, folder: string): Promise<void> {
  const start = `.${basename(target)}.`;
  for (const name of await readdir(dirname(target))) {
    const pid = name.startsWith(start) ? /^([0-9]{1,10})\.part$/.exec(name.slice(start.length))?.[1] : undefined;
    if (pid === undefined || isAlive(Number(pid))) continue;
    const taken = await rename(join(dirname(target), name), folder).then(() => true, () => false);
    if (taken) return;
  }
}

/**
 * Returns whether the process still runs. For the current process it returns false, because an earlier download of the
 * file by this process has ended.
 */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

async function readOf(folder: string): Promise<{ identity: string; validator: string | null } | null> {
  try {
    const { identity, validator } = JSON.parse(await readFile(join(folder, OF), "utf8"));
    return typeof identity === "string"
      ? { identity, validator: typeof validator === "string" ? validator : null }
      : null;
  } catch {
    // The file is missing, or a crash truncated it, so the identity of the bytes is unknown.
    return null;
  }
}

async function writeWhole(file: Awaited<ReturnType<typeof open>>, chunk: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < chunk.length;) {
    done += (await file.write(chunk, done, chunk.length - done, at + done)).bytesWritten;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Returns the size of a file, or null if it does not exist. Throws a Failure if it is not a file or is not accessible.
 */
export async function sizeOfFile(path: string): Promise<number | null> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw new Failure(`${path}: ${error.message}`, EXIT.failure);
  });
  if (found !== null && !found.isFile()) throw new Failure(`${path} is not a file`, EXIT.failure);
  return found === null ? null : found.size;
}
