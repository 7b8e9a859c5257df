// Makes an image of a snapshot. The first commit occupies the instance. The node's job flattens the snapshot and sends
// its bytes into an upload of this operation, whose digest the server computes. The last step creates the image. If the
// operation fails, neither the image nor the upload remains (docs/instances.md, "Images from snapshots").
import { withActor } from "../engine/effects.ts";
import { job, saga, write } from "../engine/saga.ts";
import { IMAGE_CREATE, type ImageCreateParams } from "../instance/operation.ts";
import { toInstance } from "./instance-parts.ts";

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
  // This step does not set `follows`, because the image may be refused, for example if another image has taken its
  // name.
  .step("publish", {
    do: (c) => {
      const { upload_id } = c.params;
      return write(
        { upload_id },
        withActor({ kind: "image-upload", id: upload_id }, { type: "publish" }),
        toInstance(c, { type: "image_ended", operation_id: c.saga_id, reason: null }),
      );
    },
  });
