// An upload as the API shows it, and the place of a part in it.
import { badRequest, conflict, type Fault } from "../../src/contract/fault.ts";
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

type Received = { readonly size_bytes: number; readonly received_bytes: number };

/**
 * Returns "next" for the next part, and "repeated" for the last stored part, which a client repeats if the answer was
 * lost. Returns a Fault for any other part. `from` is the position of the part's first byte, and `bytes` its size.
 */
export function placeOfPart(
  { size_bytes, received_bytes }: Received,
  { from, bytes }: { readonly from: number; readonly bytes: number },
): "next" | "repeated" | Fault {
  const is_whole = from % IMAGE_PART_BYTES === 0 && 0 < bytes && bytes <= IMAGE_PART_BYTES;
  if (is_whole && from + bytes === received_bytes) return "repeated";
  if (from !== received_bytes) return conflict(`the upload has ${received_bytes} bytes; continue after them`);
  const wanted = Math.min(IMAGE_PART_BYTES, size_bytes - received_bytes);
  return is_whole && bytes === wanted ? "next" : badRequest(`the next part must have ${wanted} bytes, not ${bytes}`);
}
