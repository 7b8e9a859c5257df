// Gives a complete file its name. A loss of power must not leave a part of the file under that name, because an
// existing file counts as complete.
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** Renames a file. Its content and its name are on disk when the promise resolves. */
export async function renameDurably(draft: string, path: string): Promise<void> {
  await sync(draft);
  await rename(draft, path);
  await sync(dirname(path));
}

/** Flushes a file or a folder to the disk. */
async function sync(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
