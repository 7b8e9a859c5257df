// An image that is being uploaded (docs/instances.md, "Uploaded images"). The record knows how many bytes are stored, so
// an upload continues after any interruption. When it is complete, the same commit creates the image and ends the upload.
import { badRequest, conflict, NOT_FOUND } from "../../src/contract/fault.ts";
import { IMAGE_PART_BYTES, IMAGE_UPLOAD_IDLE_S } from "../../src/contract/limits.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { uploadedUrl } from "../../src/lib/ids/uploaded-image.ts";
import { addMs } from "../../src/lib/text/instant.ts";
import { nameFault } from "../../src/lib/text/resource-name.ts";
import { audit, go, guard, lock, refuse, reply, withActor } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";
import type { ImageUploadColumns, ImageUploadState } from "./state.ts";
import { imageUploadView } from "./view.ts";

export type ImageUploadMessage =
  /** `bytes_max` is the tenant's limit of uploaded bytes. */
  | ImageUploadColumns & { readonly type: "create"; readonly bytes_max: number }
  /** A part is stored. `from` is the position of its first byte. */
  | { readonly type: "receive"; readonly from: number; readonly bytes: number }
  /** The digest of the stored bytes was computed; the image gets this id. */
  | { readonly type: "finish"; readonly sha256: string; readonly image_id: string }
  | { readonly type: "cancel" }
  | { readonly type: "tick" };

type Open = At<ImageUploadState, "open">;

export const imageUploadTable: Table<ImageUploadState, ImageUploadMessage> = {
  create: { absent: create, open: "the upload exists already" },
  receive: { absent: "missing", open: receive },
  finish: { absent: "missing", open: finish },
  cancel: { absent: "missing", open: cancel },
  tick: { absent: "ignore", open: expire },
};

function create(_s: null, m: Of<ImageUploadMessage, "create">, now: Date): Out<ImageUploadState> {
  const { type: _type, bytes_max, ...columns } = m;
  const { tenant_id, size_bytes, name } = m;
  const wrong = nameFault(name);
  if (wrong !== null) return refuse(wrong);
  return go<ImageUploadState>(
    { ...columns, state: "open", project_id: null, received_bytes: 0, created_at: now, expires_at: idleEnd(now) },
    lock(lockKey("tenant", tenant_id), true),
    lock(lockKey("image-uploads", tenant_id)),
    guard(
      "image_upload_fits",
      { tenant_id, size_bytes, max: bytes_max },
      `the uploaded images of the tenant may have ${bytes_max} bytes; delete one, or ask the operator for more`,
    ),
    audit("image_upload_begin", resource(m), { tenant_id, name, size_bytes }),
  );
}

function receive(s: Open, { from, bytes }: Of<ImageUploadMessage, "receive">, now: Date): Out<ImageUploadState> {
  const wanted = Math.min(IMAGE_PART_BYTES, s.size_bytes - s.received_bytes);
  // The part was received before, and its answer was lost.
  if (from + bytes === s.received_bytes && from >= s.received_bytes - IMAGE_PART_BYTES) return { out: "ignore" };
  if (from !== s.received_bytes) return refuse(conflict(`the upload has ${s.received_bytes} bytes; continue there`));
  if (bytes !== wanted) return refuse(badRequest(`the next part must have ${wanted} bytes, not ${bytes}`));
  return go<ImageUploadState>({ ...s, received_bytes: from + bytes, expires_at: idleEnd(now) });
}

function finish(s: Open, { sha256, image_id }: Of<ImageUploadMessage, "finish">): Out<ImageUploadState> {
  if (s.received_bytes < s.size_bytes) {
    return refuse(conflict(`the upload has ${s.received_bytes} of ${s.size_bytes} bytes`));
  }
  const { tenant_id, name, description, os, os_version, compatibility, content_bytes, size_bytes } = s;
  const scope = { scope_kind: "tenant", silo_id: null, tenant_id, project_id: null } as const;
  const made = { name, description, os, os_version, compatibility, content_bytes, size_bytes, sha256 };
  const source_url = uploadedUrl(s.id);
  return go<ImageUploadState>(
    null,
    lock(lockKey("image-uploads", tenant_id)),
    withActor({ kind: "image", id: image_id }, { type: "create", id: image_id, ...scope, ...made, source_url }),
    audit("image_upload_finish", resource(s), { tenant_id, name, sha256, image_id }),
    reply({ image_id }),
  );
}

function cancel(s: Open): Out<ImageUploadState> {
  return go<ImageUploadState>(
    null,
    audit("image_upload_cancel", resource(s), { tenant_id: s.tenant_id, name: s.name }),
  );
}

function expire(s: Open, _m: Of<ImageUploadMessage, "tick">, now: Date): Out<ImageUploadState> {
  if (now < s.expires_at) return { out: "ignore" };
  return go<ImageUploadState>(
    null,
    audit("image_upload_expire", resource(s), { tenant_id: s.tenant_id, name: s.name }),
  );
}

function idleEnd(now: Date): Date {
  return addMs(now, IMAGE_UPLOAD_IDLE_S * 1_000);
}

function resource({ id }: { readonly id: string }): string {
  return `ImageUpload::"${id}"`;
}

export const imageUpload: Behavior<ImageUploadState, ImageUploadMessage> = {
  kind: "image-upload",
  table: "image_upload",
  key: "id",
  step: (s, m, now) => runTable(imageUploadTable, s, m, now),
  deadline: (s) => s.expires_at,
  view: imageUploadView,
  constraints: { image_upload_tenant_fkey: NOT_FOUND },
};
