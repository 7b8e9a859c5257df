// A half-done download: a folder `.NAME.PID.part` beside where the file will be, with the bytes so far and what they are of.
// The folder is claimed by renaming it to one's own process id, which only one process can, and only when the process it
// names is gone. So nobody else writes to the bytes that are checked and then renamed to the final name.
import { constants } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";

export type Part = {
  readonly path: string;
  /** Bytes written so far. */
  bytes(): number;
  /** What the server called this version of the file (If-Range), or null. */
  validator(): string | null;
  /** Whether the bytes are of more than one answer, so that halves of two versions may have met. */
  isPieced(): boolean;
  /** What is written next is of another answer than what is there. */
  goOn(): void;
  write(chunk: Uint8Array): Promise<void>;
  /** Throws away what is there; what follows is of this version. */
  restart(validator: string | null): Promise<void>;
  /** Gives the bytes, all on the disk, their final name. */
  finish(): Promise<void>;
  /** Keeps the bytes for the next time, or nothing when there are none. */
  leave(): Promise<void>;
  discard(): Promise<void>;
};

const CONTENT = "content";
const OF = "of.json";

/**
 * @param identity what the bytes must be of: bytes of anything else are thrown away
 * @param vetted whether a digest will tell wrong bytes; only then bytes without a validator are of use
 */
export async function openPart(
  target: string,
  { identity, vetted }: { identity: string; vetted: boolean },
): Promise<Part> {
  const folder = join(dirname(target), `.${basename(target)}.${process.pid}.part`);
  await claim(target, folder);
  await mkdir(folder, { recursive: true });
  const path = join(folder, CONTENT);
  const kept = await readOf(folder);
  const usable = kept !== null && kept.identity === identity && (vetted || kept.validator !== null);
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
    goOn: () => void (pieced = true),
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

/** Takes over the bytes of a process that is gone, if there are some. */
async function claim(target: string, folder: string): Promise<void> {
  const start = `.${basename(target)}.`;
  for (const name of await readdir(dirname(target))) {
    const pid = name.startsWith(start) ? /^([0-9]{1,10})\.part$/.exec(name.slice(start.length))?.[1] : undefined;
    if (pid === undefined || isAlive(Number(pid))) continue;
    const taken = await rename(join(dirname(target), name), folder).then(() => true, () => false);
    if (taken) return;
  }
}

/** A download of this process is over when its next one of the same file begins. */
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
    // Missing or cut off by a crash: the bytes beside it are of nothing that is known.
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

/** The size of a file, or null when there is none. Throws a Failure for anything else than a file. */
export async function sizeOfFile(path: string): Promise<number | null> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw new Failure(`${path}: ${error.message}`, EXIT.failure);
  });
  if (found !== null && !found.isFile()) throw new Failure(`${path} is not a file`, EXIT.failure);
  return found === null ? null : found.size;
}
