// An upload as the API shows it.
import type { ImageUpload } from "../../src/contract/image-upload.ts";
import { IMAGE_PART_BYTES } from "../../src/contract/limits.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import type { ImageUploadState } from "./state.ts";

type Shown = "id" | "tenant_id" | "name" | "size_bytes" | "received_bytes" | "created_at" | "expires_at";

export function imageUploadView(row: Pick<ImageUploadState, Shown>): ImageUpload {
  const { id, tenant_id, name, size_bytes, received_bytes, created_at, expires_at } = row;
  return {
    ...{ id, tenant_id, name, size_bytes, received_bytes, part_bytes: IMAGE_PART_BYTES },
    created_at: toRfc3339(created_at),
    expires_at: toRfc3339(expires_at),
  };
}
