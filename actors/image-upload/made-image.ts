// The image that an upload becomes. The reply to the request that creates the image contains the image, so a repeated
// request gets the same answer even after the image was deleted.
import { scopedId } from "../../src/lib/ids/scope.ts";
import { uploadedUrl } from "../../src/lib/ids/uploaded-image.ts";
import type { MadeImage, PlannedImage, StoredImage } from "./state.ts";

type Planned = PlannedImage & { readonly tenant_id: string; readonly project_id: string | null };
type Stored = StoredImage & { readonly upload_id: string };

/** Returns the image's columns. `now` is the time of the commit that creates the image. */
export function madeImage(planned: Planned, { upload_id, sha256, size_bytes }: Stored, now: Date): MadeImage {
  const { tenant_id, project_id, name, description, labels, os, os_version, compatibility, content_bytes } = planned;
  const scope_kind = project_id === null ? "tenant" : "project";
  const scope = { scope_kind, silo_id: null, tenant_id, project_id } as const;
  return {
    id: scopedId({ ...scope, user_id: null }, sha256),
    ...scope,
    ...{ name, description, labels, os, os_version, compatibility, content_bytes, size_bytes, sha256 },
    source_url: uploadedUrl(upload_id),
    created_at: now.toISOString(),
  };
}
