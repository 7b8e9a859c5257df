// Makes an image of a snapshot. The first commit occupies the instance (OperationKind in instance/operation.ts). The
// node's job flattens the snapshot and sends its bytes into an upload of this operation, whose digest the server
// computes. The step `publish` creates the image. If the operation fails, nothing of the image or the upload remains
// (docs/instances.md, "Images from snapshots").
import { withActor } from "../engine/effects.ts";
import { job, saga, wait, write } from "../engine/saga.ts";
import { madeImage } from "../image-upload/made-image.ts";
import type { StoredImage } from "../image-upload/state.ts";
import { IMAGE_CREATE, type ImageCreateParams } from "../instance/operation.ts";
import { toInstance } from "./instance-parts.ts";

/** The time limit for the report of the upload. The report is a message between actors, so it needs no node. */
const REPORT_MS = 60 * 60 * 1_000;

/** The first step commits with the instance's own message (instance/image.ts). */
export const imageCreate = saga<ImageCreateParams>(IMAGE_CREATE.saga)
  .step(IMAGE_CREATE.begun, {
    do: ({ params: { upload_id } }) => write({ upload_id }),
    undo: (c) => {
      const reason = c.error ?? "the operation was undone";
      const upload = { kind: "image-upload", id: c.params.upload_id } as const;
      return write(
        null,
        withActor(upload, { type: "discard" }),
        toInstance(c, { type: "image_ended", operation_id: c.saga_id, reason }),
      );
    },
  })
  .step("send", {
    kind: "job",
    follows: true,
    do: ({ params: { instance_id, snapshot_id, size_bytes, upload_id, host_cn_uuid, limit_ms } }) => {
      const payload = { instance_id, disk_id: snapshot_id, size_bytes, upload_id };
      return job<unknown>({ kind: "create_image", target_cn: host_cn_uuid, payload, limit_ms });
    },
  })
  // Takes the server's own digest, which the upload reports, because the node's result could be wrong.
  .step("digest", {
    kind: "wait",
    do: (c) => {
      const report = { type: "report", told_as: c.told_as };
      return wait<StoredImage>(REPORT_MS, withActor({ kind: "image-upload", id: c.params.upload_id }, report));
    },
  })
  // The image may be refused, for example if another image has taken its name. So this step does not set `follows`.
  .step("publish", {
    do: (c) => {
      const { upload_id } = c.params;
      return write(
        { upload_id },
        withActor({ kind: "image-upload", id: upload_id }, { type: "publish" }),
        toInstance(c, { type: "image_ended", operation_id: c.saga_id, reason: null }),
      );
    },
  })
  // The reply to the caller: the image as the operation created it. This step commits together with `publish`.
  .step("finish", {
    follows: true,
    do: ({ params: { upload_id, image, tenant_id, project_id }, digest, now }) => {
      // A process of an earlier release omits the step `digest`.
      const stored = digest as StoredImage | undefined;
      const made = stored && madeImage({ ...image, tenant_id, project_id }, { upload_id, ...stored }, now);
      return write({ image: made ?? null });
    },
  });
