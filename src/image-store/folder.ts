// Stores uploaded images in a folder. Each image has a subfolder with one file for each part. The name of the subfolder
// is the id of the upload. Several server processes may share the folder, for example over NFS. A part never changes:
// its file appears when it is complete, and never replaces another file.
import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ImageStore } from "./store.ts";

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const OWNER_ONLY = { folder: 0o700, file: 0o600 } as const;
const PART_DIGITS = 8;

/** Opens the folder and creates it if it is missing. */
export async function openFolderStore(folder: string): Promise<ImageStore> {
  await mkdir(folder, { recursive: true, mode: OWNER_ONLY.folder });

  function pathOf(id: string): string {
    if (!ID.test(id)) throw new TypeError("the id of an upload is a UUID");
    return join(folder, id);
  }

  const partPath = (id: string, part: number) => join(pathOf(id), String(part).padStart(PART_DIGITS, "0"));

  async function read(id: string, part: number): Promise<Uint8Array<ArrayBuffer> | null> {
    const bytes = await readFile(partPath(id, part)).catch(absent);
    return bytes === null ? null : new Uint8Array(bytes);
  }

  return {
    write: async (id, part, bytes) => {
      await mkdir(pathOf(id), { recursive: true, mode: OWNER_ONLY.folder });
      const draft = join(pathOf(id), `.${randomUUID()}`);
      const file = await open(draft, "wx", OWNER_ONLY.file);
      try {
        try {
          await file.writeFile(bytes);
          await file.datasync();
        } finally {
          await file.close();
        }
        await link(draft, partPath(id, part));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        return isEqual(await read(id, part), bytes);
      } finally {
        await rm(draft, { force: true });
      }
      await syncFolder(pathOf(id));
      return true;
    },
    read,
    remove: async (id) => await rm(pathOf(id), { recursive: true, force: true }),
    list: async () => {
      const names = (await readdir(folder)).filter((name) => ID.test(name));
      const found = await Promise.all(names.map(async (id) => {
        const { mtimeMs = null } = await stat(pathOf(id)).catch(absent) ?? {};
        return mtimeMs === null ? [] : [{ id, changed_at_ms: mtimeMs }];
      }));
      return found.flat();
    },
  };
}

/** Makes the names of a folder's new files durable. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Returns whether a stored part has these bytes. */
export function isEqual(stored: Uint8Array | null, bytes: Uint8Array): boolean {
  return stored !== null && Buffer.compare(stored, bytes) === 0;
}

/** Returns null if the error means that a file or folder does not exist. Otherwise throws the error. */
function absent(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
