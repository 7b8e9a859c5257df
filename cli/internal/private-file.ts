// Reads and writes files with secrets. A write is atomic, and its data is on the disk when the call returns. By default
// only the owner can read the file. If the mode gives other users any access, readPrivateFile fails, because they may
// know the secret.
import { constants } from "node:fs";
import { chmod, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { EXIT } from "./exit-code.ts";
import { fileReason } from "./file-problem.ts";
import { Failure } from "./failure.ts";

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

export async function writeFileDurably(
  path: string,
  content: string | Uint8Array,
  mode: number = OWNER_ONLY,
): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    const file = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await chmod(draft, mode);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  const parent = await open(folder, "r");
  try {
    await parent.sync();
  } finally {
    await parent.close();
  }
}

const DRAFT = /\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

/**
 * Removes the temporary files of killed processes below a folder. No other process may write to the folder meanwhile.
 */
export async function removeDrafts(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  await Promise.all(names.filter((name) => DRAFT.test(name)).map((name) => rm(join(folder, name), { force: true })));
}

/** Reads a file with a secret. Returns null if it does not exist. Throws a Failure if group or others may access it. */
export async function readPrivateFile(path: string): Promise<string | null> {
  return await readWhole(path, true);
}

/** Reads a file without a secret. Returns null if it does not exist. */
export async function readPlainFile(path: string): Promise<string | null> {
  return await readWhole(path, false);
}

async function readWhole(path: string, owner_only: boolean): Promise<string | null> {
  let file;
  try {
    file = await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new Failure(`cannot read ${path}: ${fileReason(error)}`, EXIT.failure);
  }
  try {
    // Checks the open file, not the path: another process could replace the file at the path in between.
    const { mode } = await file.stat();
    if (owner_only && (mode & OTHERS) !== 0) {
      const shown = (mode & 0o777).toString(8).padStart(4, "0");
      throw new Failure(`${path} is accessible to other users (mode ${shown}); run: chmod 600 ${path}`, EXIT.auth);
    }
    return await file.readFile("utf8").catch((error) => {
      throw new Failure(`cannot read ${path}: ${fileReason(error)}`, EXIT.failure);
    });
  } finally {
    await file.close();
  }
}
