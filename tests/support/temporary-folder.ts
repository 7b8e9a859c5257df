import { mkdtemp, readdir, rm, stat, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

export type TemporaryFolder = { readonly path: string; remove(): Promise<void> };

/** Linux's file system in memory. */
const MEMORY = "/dev/shm";
/**
 * The minimum free space in MEMORY, enough for several clusters with their write-ahead logs. Containers often have only
 * 64 MiB.
 */
const MEMORY_FREE_BYTES = 4 * 2 ** 30;

/** The environment variable with the test run's own folder, which is deleted after the run. */
export const RUN_PLACE = "TEST_DATABASE_FOLDERS";
/** No run takes so long, so a folder of this age was left by a run that was killed. */
const FORGOTTEN_MS = 24 * 3_600_000;

export function temporaryFolder(subject: string): Promise<TemporaryFolder> {
  return folderIn(tmpdir(), subject);
}

/**
 * Creates a folder for the data of a PostgreSQL server. The folder is in memory if there is room, because creating a
 * database mostly waits for the disk. Data in memory survives the end of the server's process, as on a disk.
 */
export async function databaseFolder(subject: string): Promise<TemporaryFolder> {
  const ofRun = process.env[RUN_PLACE];
  if (ofRun !== undefined) return await folderIn(ofRun, subject);
  await removeForgotten();
  return await folderIn(await hasRoom(MEMORY) ? MEMORY : tmpdir(), subject);
}

/** Removes the folders of killed runs from memory. */
async function removeForgotten(): Promise<void> {
  const names = await readdir(MEMORY).catch(() => []);
  for (const path of names.filter((name) => name.startsWith("berth-")).map((name) => join(MEMORY, name))) {
    const made_ms = (await stat(path).catch(() => null))?.mtimeMs ?? Infinity; // Another run may have removed the folder.
    // A folder of another user stays, because this user cannot remove it.
    if (made_ms < Date.now() - FORGOTTEN_MS) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

async function folderIn(place: string, subject: string): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(place, `berth-${subject}-`));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

async function hasRoom(place: string): Promise<boolean> {
  const found = await statfs(place).catch(() => null);
  return found !== null && found.bavail * found.bsize >= MEMORY_FREE_BYTES;
}
