// Opens the store of uploaded images that the configuration names.
import { openBucketStore } from "./bucket.ts";
import { openFolderStore } from "./folder.ts";
import type { ImageStore, ImageStoreConfig } from "./store.ts";

export async function openImageStore(config: ImageStoreConfig): Promise<ImageStore> {
  return config.kind === "folder" ? await openFolderStore(config.folder) : openBucketStore(config);
}
