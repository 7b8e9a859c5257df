// Stores uploaded images in a folder: one file for each, named by the id of its upload. Several server processes may
// share the folder, for example over NFS.
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { IMAGE_PART_BYTES } from "../contract/limits.ts";
import type { ImageStore } from "./store.ts";

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Opens the folder and creates it if it is missing. */
export async function openFolderStore(folder: string): Promise<ImageStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 });

  function pathOf(id: string): string {
    if (!ID.test(id)) throw new TypeError("the id of an upload is a UUID");
    return join(folder, id);
  }

  return {
    write: async (id, part, bytes) => {
      // Creates the file without truncating it.
      const file = await open(pathOf(id), "a", 0o600).then(async (made) => {
        await made.close();
        return await open(pathOf(id), "r+");
      });
      try {
        for (let at = 0; at < bytes.length;) {
          at += (await file.write(bytes, at, bytes.length - at, part * IMAGE_PART_BYTES + at)).bytesWritten;
        }
        await file.datasync();
      } finally {
        await file.close();
      }
    },
    read: async (id, part) => {
      const file = await open(pathOf(id), "r").catch(absent);
      if (file === null) return null;
      try {
        const bytes = new Uint8Array(IMAGE_PART_BYTES);
        let size = 0;
        for (;;) {
          const from = part * IMAGE_PART_BYTES + size;
          const { bytesRead } = await file.read(bytes, size, bytes.length - size, from);
          size += bytesRead;
          if (bytesRead === 0 || size === bytes.length) break;
        }
        return size === 0 ? null : bytes.slice(0, size);
      } finally {
        await file.close();
      }
    },
    remove: async (id) => await rm(pathOf(id), { force: true }),
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

/** Returns null for a file that does not exist. */
function absent(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
